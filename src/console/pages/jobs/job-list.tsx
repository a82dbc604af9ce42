import { useState } from 'react'
import { useLive } from '../../hooks/live.ts'
import { paths } from '../../hooks/paths.ts'
import { useUrlState } from '../../hooks/url-state.ts'
import { SelectField, TextField } from '../../parts/form/field.tsx'
import { Form, Options } from '../../parts/form/form.tsx'
import { duration } from '../../parts/format.ts'
import { A } from '../../parts/link.tsx'
import { Menu } from '../../parts/over/menu.tsx'
import { State } from '../../parts/state.tsx'
import { PagedTable } from '../../parts/table.tsx'
import { Ago } from '../../parts/time.tsx'
import { BulkJobs } from './bulk/bulk-jobs.tsx'
import { JOB_STATES, listQuery } from './bulk/chosen-jobs.ts'
import { cancelOff, retryOff } from './job-acts.ts'
import { useJobActs } from './use-job-acts.ts'

const PAGE = 50

/** Jobs of an endpoint, newest first, filtered by state, age and id prefix. The filter is stored in the address. */
export function JobList({ endpointId }: { endpointId: string }) {
  const [status, setStatus] = useUrlState('status', '', { resets: 'cursor' })
  const [span, setSpan] = useUrlState('within', '', { resets: 'cursor' })
  const [idStart, setIdStart] = useUrlState('job', '', { resets: 'cursor' })
  const [cursor, setCursor] = useUrlState('cursor', '')
  const chosen = { status, span, idStart }
  const jobs = useLive(['jobs', endpointId, chosen, cursor], (api, signal) => {
    const query = { limit: PAGE, ...listQuery(chosen, Date.now()), ...(cursor !== '' && { cursor }) }
    return api.listRequests({ path: { endpointId }, query }, { signal })
  })
  const isFiltered = status !== '' || span !== '' || idStart !== ''
  return (
    <section aria-label="Jobs" className="flex flex-col gap-3">
      <div className="flex flex-wrap items-end gap-3">
        <SelectField label="State" value={status} onChange={({ target }) => setStatus(target.value)}>
          <option value="">All</option>
          <Options of={JOB_STATES} />
        </SelectField>
        <SelectField label="Created" value={span} onChange={({ target }) => setSpan(target.value)}>
          <option value="">Any time</option>
          <option value="1h">Last hour</option>
          <option value="24h">Last 24 hours</option>
          <option value="7d">Last 7 days</option>
        </SelectField>
        <IdFilter value={idStart} onChange={setIdStart} />
        <BulkJobs endpointId={endpointId} chosen={chosen} />
      </div>
      <PagedTable
        of={jobs}
        empty={
          isFiltered
            ? {
                title: 'No matching jobs',
                children: <p>No job of this endpoint matches the state, time and id. Results are retained for a while after a job ends.</p>,
              }
            : { title: 'No jobs yet', command: `podplane run ${endpointId} '{"prompt":"hello"}'` }
        }
        caption="Jobs"
        keyOf={({ id }) => id}
        columns={[
          {
            title: 'Job',
            show: ({ id }) => (
              <A to={paths.job(endpointId, id)} className="text-accent font-mono text-xs underline underline-offset-2">
                {id}
              </A>
            ),
          },
          { title: 'State', show: ({ status: state }) => <State value={state} /> },
          { title: 'Queue time', isNumber: true, isMinor: true, show: ({ delayTime }) => spanOf(delayTime) },
          { title: 'Run time', isNumber: true, isMinor: true, show: ({ executionTime }) => spanOf(executionTime) },
          { title: 'Created', isMinor: true, show: ({ createdAt }) => <Ago at={createdAt} /> },
          { title: 'Actions', show: ({ id, status: state }) => <JobMenu endpointId={endpointId} id={id} status={state} /> },
        ]}
        cursor={cursor}
        go={setCursor}
      />
    </section>
  )
}

const spanOf = (ms: number | undefined) => (ms === undefined ? '–' : duration(ms))

function IdFilter({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  const [text, setText] = useState(value)
  return (
    <Form onSubmit={() => onChange(text.trim())} className="">
      <TextField
        label="Id begins with"
        type="search"
        autoComplete="off"
        spellCheck={false}
        value={text}
        onChange={({ target }) => setText(target.value)}
        onBlur={() => onChange(text.trim())}
      />
    </Form>
  )
}

function JobMenu({ endpointId, id, status }: { endpointId: string; id: string; status: string }) {
  const { off, cancel, retry } = useJobActs(endpointId)
  return (
    <Menu
      name={`Actions for job ${id}`}
      label="…"
      items={[
        { label: 'Cancel', run: () => void cancel(id), disabledReason: off ?? cancelOff(status) },
        { label: 'Retry', run: () => void retry(id), disabledReason: off ?? retryOff(status) },
      ]}
    />
  )
}
