import { useLive } from '../../../hooks/live.ts'
import { useParam } from '../../../hooks/params.ts'
import { paths } from '../../../hooks/paths.ts'
import { Button } from '../../../parts/button.tsx'
import { CopyAs } from '../../../parts/copy/copy-as.tsx'
import { duration } from '../../../parts/format.ts'
import { A } from '../../../parts/link.tsx'
import { Page, Panel } from '../../../parts/page.tsx'
import { State } from '../../../parts/state.tsx'
import { Facts } from '../../../parts/table.tsx'
import { type Tab, Tabs } from '../../../parts/tabs.tsx'
import { ViewState } from '../../../parts/view-state.tsx'
import { Chunks } from '../chunks.tsx'
import { cancelOff, isOver, retryOff } from '../job-acts.ts'
import type { JobRecord } from '../job-stream.ts'
import { JsonText } from '../json-text.tsx'
import { useJobActs } from '../use-job-acts.ts'
import { Deliveries } from './deliveries.tsx'
import { JobExplanation } from './job-explanation.tsx'
import { JobInput } from './job-input.tsx'
import { JobLogs } from './job-logs.tsx'
import { JobTimelinePanel } from './job-timeline.tsx'

/** Page of one job: state and explanation, result, and the log of its worker. */
export function JobPage() {
  const endpointId = useParam('id')
  const jobId = useParam('jobId')
  const job = useLive(['job', endpointId, jobId], (api, signal) => api.getJobStatus({ path: { endpointId, jobId } }, { signal }))
  const { data } = job
  return (
    <Page
      title={`Job ${jobId}`}
      {...(data === undefined ? {} : { mark: data.status })}
      actions={data && <Actions endpointId={endpointId} job={data} />}
    >
      <ViewState of={job}>
        {(record) => {
          const tabs: Tab[] = [
            { id: 'overview', title: 'Overview', show: () => <JobOverview endpointId={endpointId} job={record} /> },
            { id: 'chunks', title: 'Chunks', show: () => <Chunks endpointId={endpointId} jobId={record.id} /> },
            { id: 'logs', title: 'Logs', show: () => <JobLogs endpointId={endpointId} jobId={record.id} /> },
            { id: 'webhooks', title: 'Webhook deliveries', show: () => <Deliveries jobId={record.id} /> },
          ]
          return <Tabs name="Views of the job" tabs={tabs} />
        }}
      </ViewState>
    </Page>
  )
}

function Actions({ endpointId, job: { id, status } }: { endpointId: string; job: JobRecord }) {
  const { isBusy, off, cancel, retry } = useJobActs(endpointId)
  const path = isOver(status) ? `/v2/${endpointId}/retry/${id}` : `/v2/${endpointId}/cancel/${id}`
  return (
    <>
      <A to={`${paths.endpoint(endpointId)}?tab=jobs`}>All jobs</A>
      <CopyAs call={{ method: 'POST', path }} />
      <Button isBusy={isBusy} disabledReason={off ?? retryOff(status)} onClick={() => void retry(id)}>
        Retry
      </Button>
      <Button kind="danger" isBusy={isBusy} disabledReason={off ?? cancelOff(status)} onClick={() => void cancel(id)}>
        Cancel job
      </Button>
    </>
  )
}

function JobOverview({ endpointId, job }: { endpointId: string; job: JobRecord }) {
  return (
    <div className="flex flex-col gap-4">
      <Panel title="State">
        <Facts
          rows={[
            ['State', <State key="state" value={job.status} />],
            ['Queue time', job.delayTime === undefined ? '–' : duration(job.delayTime)],
            ['Run time', job.executionTime === undefined ? '–' : duration(job.executionTime)],
            ['Retries', job.retries ?? 0],
            [
              'Worker',
              job.workerId === undefined ? (
                '–'
              ) : (
                <A key="worker" to={paths.worker(endpointId, job.workerId)}>
                  {job.workerId}
                </A>
              ),
            ],
          ]}
        />
      </Panel>
      <JobTimelinePanel endpointId={endpointId} jobId={job.id} />
      {!isOver(job.status) && <JobExplanation endpointId={endpointId} jobId={job.id} />}
      {job.error !== undefined && (
        <Panel title="Error">
          <JsonText value={job.error} name="the error" />
          {job.errorDetail !== undefined && <p className="text-soft mt-2">{job.errorDetail}</p>}
        </Panel>
      )}
      <JobInput endpointId={endpointId} jobId={job.id} />
      {job.output !== undefined && (
        <Panel title="Output">
          <JsonText value={job.output} name="the output" />
        </Panel>
      )}
    </div>
  )
}
