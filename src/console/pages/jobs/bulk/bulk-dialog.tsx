import { useEffect, useRef, useState } from 'react'
import type { ApiClient } from '../../../../client/client.ts'
import { eachItem, type PageRequest } from '../../../../client/page.ts'
import type { JobBulk, JobBulkRequest } from '../../../../contract/jobs/bulk.ts'
import { useLive } from '../../../hooks/live.ts'
import { paths } from '../../../hooks/paths.ts'
import { useApi } from '../../../hooks/session.ts'
import { useSubmit } from '../../../hooks/submit.ts'
import { Button } from '../../../parts/button.tsx'
import { CopyAs } from '../../../parts/copy/copy-as.tsx'
import { Dialog } from '../../../parts/dialog.tsx'
import { Refusal } from '../../../parts/form/form.tsx'
import { count } from '../../../parts/format.ts'
import { A } from '../../../parts/link.tsx'
import { Table } from '../../../parts/table.tsx'
import { ViewState } from '../../../parts/view-state.tsx'
import { costText } from '../phases.ts'
import { bulkRequest, type ChosenJobs, listQuery, NAMED_MAX, resultsOf } from './chosen-jobs.ts'

const REFRESH_EVERY_MS = 500
const VERBS = { cancel: 'Cancel', retry: 'Retry' } as const

interface BulkDialogProps {
  endpointId: string
  chosen: ChosenJobs
  action: 'cancel' | 'retry'
  onClose: () => void
}

interface Planned {
  body: JobBulkRequest
  plan: JobBulk
}

/** Dialog for a change of many jobs: first the plan, from a dry run of the same request, then the result of each job. */
export function BulkDialog({ endpointId, chosen, action, onClose }: BulkDialogProps) {
  const { api, refresh } = useApi()
  const { isBusy, refusal, send } = useSubmit()
  const [openedAtMs] = useState(Date.now)
  const [done, setDone] = useState<JobBulk | null>(null)
  const closed = useRef(new AbortController())
  useEffect(() => {
    const controller = new AbortController()
    closed.current = controller
    return () => controller.abort()
  }, [])
  const planned = useLive(
    ['bulk-plan', endpointId, action, chosen, openedAtMs],
    (client, signal) => planOf(client, { endpointId, chosen, action, nowMs: openedAtMs }, signal),
    { everyMs: 0 },
  )
  const carryOut = async ({ body, plan }: Planned) => {
    const { signal } = closed.current
    const call = { path: { endpointId }, body: { ...body, expected: plan.matched } }
    const started = await send(() => (action === 'cancel' ? api.cancelJobs(call) : api.retryJobs(call)), 'The jobs are being changed')
    // The refusal may be due to a stale plan, so the plan is requested again.
    if (started === undefined) planned.refetch()
    for (let bulk = started; bulk !== undefined; ) {
      setDone(bulk)
      const { id, status } = bulk
      if (status === 'DONE' || id === null || signal.aborted) break
      await new Promise((resolve) => setTimeout(resolve, REFRESH_EVERY_MS))
      bulk = await api.getJobBulk({ path: { endpointId, bulkId: id } }, { signal }).catch(() => undefined)
    }
    await refresh('jobs', endpointId)
  }
  const { data } = planned
  return (
    <Dialog
      title={titleOf(action, done ?? data?.plan)}
      isOpen
      isWide
      onClose={onClose}
      actions={
        done === null ? (
          <>
            {data && <CopyAs call={{ method: 'POST', path: `/v2/${endpointId}/requests/${action}`, body: data.body }} />}
            <Button onClick={onClose}>Close without changes</Button>
            <Button
              kind={action === 'cancel' ? 'danger' : 'primary'}
              isBusy={isBusy}
              disabledReason={offReason(data?.plan)}
              onClick={() => data && void carryOut(data)}
            >
              {VERBS[action]} {data === undefined ? 'jobs' : count(data.plan.matched, 'job')}
            </Button>
          </>
        ) : (
          <Button onClick={onClose}>Close</Button>
        )
      }
    >
      <Refusal text={refusal} />
      {done === null ? (
        <ViewState of={planned}>{({ plan }) => <PlanView endpointId={endpointId} plan={plan} />}</ViewState>
      ) : (
        <Results endpointId={endpointId} of={done} />
      )}
    </Dialog>
  )
}

function titleOf(action: BulkDialogProps['action'], bulk: JobBulk | undefined): string {
  if (bulk === undefined) return `${VERBS[action]} jobs`
  if (bulk.status === 'PLANNED') return `${VERBS[action]} ${count(bulk.matched, 'job')}?`
  return bulk.status === 'DONE' ? 'Results' : 'Changing the jobs'
}

function offReason(plan: JobBulk | undefined): string | undefined {
  if (plan === undefined) return 'The plan is not ready yet.'
  return plan.matched === 0 ? 'There is no job to change.' : undefined
}

interface PlanOf {
  endpointId: string
  chosen: ChosenJobs
  action: 'cancel' | 'retry'
  nowMs: number
}

async function planOf(api: ApiClient, { endpointId, chosen, action, nowMs }: PlanOf, signal: AbortSignal): Promise<Planned> {
  const path = { endpointId }
  const ids = chosen.idStart === '' ? null : await idsOf(api, endpointId, listQuery(chosen, nowMs), signal)
  const body = bulkRequest(chosen, nowMs, ids)
  const call = { path, body, query: { dryRun: true } }
  return { body, plan: await (action === 'cancel' ? api.cancelJobs(call, { signal }) : api.retryJobs(call, { signal })) }
}

/** Ids that match the query's id prefix. Throws an `Error` if there are none or more than `NAMED_MAX`. */
async function idsOf(api: ApiClient, endpointId: string, query: ReturnType<typeof listQuery>, signal: AbortSignal): Promise<string[]> {
  const ids: string[] = []
  const read = (page: PageRequest) => api.listRequests({ path: { endpointId }, query: { ...query, ...page } }, { signal })
  for await (const { id } of eachItem(read, NAMED_MAX)) {
    ids.push(id)
    if (ids.length > NAMED_MAX)
      throw new Error(`More than ${NAMED_MAX} ids begin with this text. Enter more of the id, or leave the field empty.`)
  }
  if (ids.length === 0) throw new Error('No job matches the state, time and id.')
  return ids
}

function PlanView({ endpointId, plan }: { endpointId: string; plan: JobBulk }) {
  const parts = Object.entries(plan.byStatus).map(([state, jobs]) => `${jobs} ${state}`)
  return (
    <>
      <p>
        {plan.matched === 0
          ? 'This action can change none of these jobs.'
          : `${count(plan.matched, 'job')}: ${parts.join(', ')}. Later jobs are not included.`}
        {plan.estimatedCostUsd !== null && plan.matched > 0 && ` Running them again costs about ${costText(plan.estimatedCostUsd)}.`}
      </p>
      {plan.refused.length > 0 && (
        <section aria-label="Unchanged jobs">
          <p>These jobs stay unchanged:</p>
          <ul className="list-disc pl-5">
            {plan.refused.map(({ status, jobs, reason }) => (
              <li key={status}>
                {status === null ? count(jobs, 'id') : `${jobs} ${status}`}: {reason}
              </li>
            ))}
          </ul>
        </section>
      )}
      <Named endpointId={endpointId} of={plan} />
    </>
  )
}

function Results({ endpointId, of: bulk }: { endpointId: string; of: JobBulk }) {
  const outcome = bulk.action === 'cancel' ? 'cancelled' : 'queued again'
  return (
    <>
      <p aria-live="polite">
        {bulk.looked} of {bulk.matched} processed: {bulk.changed} {outcome}, {bulk.skipped} unchanged.
      </p>
      <Named endpointId={endpointId} of={bulk} />
    </>
  )
}

function Named({ endpointId, of: bulk }: { endpointId: string; of: JobBulk }) {
  const rows = resultsOf(bulk)
  if (rows.length === 0) return null
  const more = bulk.matched - bulk.ids.length
  return (
    <>
      <Table
        caption="Selected jobs"
        rows={rows}
        keyOf={({ id }) => id}
        columns={[
          {
            title: 'Job',
            show: ({ id }) => (
              <A to={paths.job(endpointId, id)} className="text-accent font-mono text-xs break-all underline underline-offset-2">
                {id}
              </A>
            ),
          },
          ...(bulk.status === 'PLANNED'
            ? []
            : [
                {
                  title: 'Result',
                  show: ({ result }: (typeof rows)[number]) => result ?? <span className="text-soft">pending</span>,
                },
              ]),
        ]}
      />
      {more > 0 && <p className="text-soft">and {count(more, 'further job')}</p>}
    </>
  )
}
