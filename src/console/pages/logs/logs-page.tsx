import { useMemo } from 'react'
import { useLive } from '../../hooks/live.ts'
import { useUrlState } from '../../hooks/url-state.ts'
import { SelectField } from '../../parts/form/field.tsx'
import { Options } from '../../parts/form/form.tsx'
import { Logs } from '../../parts/logs/logs.tsx'
import { endpointLog, podLog, workerLog } from '../../parts/logs/reading/origins.ts'
import { Page } from '../../parts/page.tsx'
import { Empty, ViewState } from '../../parts/view-state.tsx'

/** Log page. The choice is stored in the address: `pod/ID`, `worker/ENDPOINT` for all workers, or `worker/ENDPOINT/ID`. */
export function LogsPage() {
  const [of, setOf] = useUrlState('of', '')
  const [kind = '', id = '', workerId = ''] = of.split('/')
  const things = useLive(['log-origins'], async (api, signal) => {
    const [{ pods }, { endpoints }] = await Promise.all([api.listPods({}, { signal }), api.listEndpoints({}, { signal })])
    return { pods, endpoints }
  })
  const origin = useMemo(() => originOf(kind, id, workerId), [kind, id, workerId])
  const chosen = kind === 'worker' ? `worker/${id}` : of
  return (
    <Page title="Logs">
      <ViewState
        of={things}
        empty={{
          when: ({ pods, endpoints }) => pods.length + endpoints.length === 0,
          show: <Empty title="No logs yet" command="podplane pods create --help" />,
        }}
      >
        {({ pods, endpoints }) => (
          <div className="flex flex-wrap gap-3">
            <SelectField label="Pod or endpoint" value={chosen} onChange={({ target }) => setOf(target.value)}>
              <option value="">Choose a pod or an endpoint</option>
              <optgroup label="Pods">
                <Options of={pods.map((pod) => [`pod/${pod.id}`, `${pod.name} (${pod.status})`])} />
              </optgroup>
              <optgroup label="Endpoints">
                <Options of={endpoints.map((endpoint) => [`worker/${endpoint.id}`, endpoint.name])} />
              </optgroup>
            </SelectField>
            {kind === 'worker' && (
              <WorkerChoice
                endpointId={id}
                workerId={workerId}
                onChoice={(next) => setOf(next === '' ? `worker/${id}` : `worker/${id}/${next}`)}
              />
            )}
          </div>
        )}
      </ViewState>
      {origin && <Logs of={origin} />}
    </Page>
  )
}

function originOf(kind: string, id: string, workerId: string) {
  if (kind === 'pod' && id !== '') return podLog(id)
  if (kind !== 'worker' || id === '') return null
  return workerId === '' ? endpointLog(id) : workerLog(id, workerId)
}

interface WorkerChoiceProps {
  endpointId: string
  workerId: string
  onChoice: (workerId: string) => void
}

/** Choice among the endpoint's workers. A worker that has ended is not in the list and appears only if a link or a job names it. */
function WorkerChoice({ endpointId, workerId, onChoice }: WorkerChoiceProps) {
  const { data } = useLive(['workers', endpointId], (api, signal) => api.listEndpointWorkers({ path: { id: endpointId } }, { signal }))
  const isKnown = workerId === '' || data?.workers.some(({ id }) => id === workerId)
  return (
    <SelectField label="Worker" value={workerId} onChange={({ target }) => onChoice(target.value)}>
      <option value="">All, including ended workers</option>
      {!isKnown && <option value={workerId}>{workerId} (ended)</option>}
      <Options of={(data?.workers ?? []).map(({ id, status }) => [id, `${id} (${status})`])} />
    </SelectField>
  )
}
