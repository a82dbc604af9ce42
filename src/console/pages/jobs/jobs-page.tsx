import { useUrlState } from '../../hooks/url-state.ts'
import { useWhole } from '../../hooks/whole.ts'
import { SelectField } from '../../parts/form/field.tsx'
import { Options } from '../../parts/form/form.tsx'
import { Page } from '../../parts/page.tsx'
import { Empty, ViewState } from '../../parts/view-state.tsx'
import { JobList } from './job-list.tsx'

/** Jobs of the chosen endpoint, by default the first one. */
export function JobsPage() {
  const [chosen, setChosen] = useUrlState('endpoint', '')
  const endpoints = useWhole(['endpoints'], (api, query, signal) => api.listEndpoints({ query }, { signal }))
  return (
    <Page title="Jobs">
      <ViewState
        of={endpoints}
        empty={{
          when: (all) => all.every(({ type }) => type !== 'QUEUE'),
          show: <Empty title="No endpoint takes jobs yet" command="podplane endpoints create --help" />,
        }}
      >
        {(all) => {
          const queues = all.filter(({ type }) => type === 'QUEUE')
          const id = chosen === '' ? (queues[0]?.id ?? '') : chosen
          return (
            <>
              <div className="max-w-sm">
                <SelectField label="Endpoint" value={id} onChange={({ target }) => setChosen(target.value)}>
                  <Options of={queues.map((queue) => [queue.id, queue.name])} />
                </SelectField>
              </div>
              <JobList key={id} endpointId={id} />
            </>
          )
        }}
      </ViewState>
    </Page>
  )
}
