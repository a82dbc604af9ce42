import { useMemo } from 'react'
import type { ApiClient } from '../../../client/client.ts'
import { pageOf } from '../../../client/page.ts'
import { useDebounced } from '../../hooks/debounced.ts'
import { useLive } from '../../hooks/live.ts'
import { useUrlState } from '../../hooks/url-state.ts'
import { SelectField, TextField } from '../../parts/form/field.tsx'
import { Options } from '../../parts/form/form.tsx'
import { given } from '../../parts/list-filter.tsx'
import { Logs } from '../../parts/logs/logs.tsx'
import { endpointLog, podLog, workerLog } from '../../parts/logs/reading/origins.ts'
import { Page } from '../../parts/page.tsx'
import { Empty, ViewState } from '../../parts/view-state.tsx'

/** Pods and endpoints that the choice offers at once; a part of the name finds any other. */
const OFFERED = 50

/** Log page. The choice is stored in the address: `pod/ID`, `worker/ENDPOINT` for all workers, or `worker/ENDPOINT/ID`. */
export function LogsPage() {
  const [of, setOf] = useUrlState('of', '')
  const [name, setName] = useUrlState('name', '', { isTyped: true })
  const [kind = '', id = '', workerId = ''] = of.split('/')
  const query = { limit: OFFERED, sort: 'newest', ...given({ name: useDebounced(name) }) }
  const read = async (api: ApiClient, signal: AbortSignal) => {
    const [pods, endpoints] = await Promise.all([api.listPods({ query }, { signal }), api.listEndpoints({ query }, { signal })])
    return { pods: pageOf(pods), endpoints: pageOf(endpoints) }
  }
  const things = useLive(['log-origins', query], read, { keepsLast: true })
  const origin = useMemo(() => originOf(kind, id, workerId), [kind, id, workerId])
  const chosen = kind === 'worker' ? `worker/${id}` : of
  return (
    <Page title="Logs">
      <ViewState
        of={things}
        empty={{
          when: ({ pods, endpoints }) => pods.items.length + endpoints.items.length === 0 && name === '' && of === '',
          show: <Empty title="No logs yet" command="podplane pods create --help" />,
        }}
      >
        {({ pods, endpoints }) => (
          <div className="flex flex-wrap gap-3">
            {(pods.next !== null || endpoints.next !== null || name !== '') && (
              <TextField label="Name contains" type="search" value={name} onChange={({ target }) => setName(target.value)} />
            )}
            <SelectField label="Pod or endpoint" value={chosen} onChange={({ target }) => setOf(target.value)}>
              <option value="">Choose a pod or an endpoint</option>
              {id !== '' && ![...pods.items, ...endpoints.items].some((one) => one.id === id) && <option value={chosen}>{id}</option>}
              <optgroup label="Pods">
                <Options of={pods.items.map((pod) => [`pod/${pod.id}`, `${pod.name} (${pod.status})`])} />
              </optgroup>
              <optgroup label="Endpoints">
                <Options of={endpoints.items.map((endpoint) => [`worker/${endpoint.id}`, endpoint.name])} />
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
