import type { ApiBody } from '../../client/client.ts'
import { given } from '../core/body.ts'
import { EXIT } from '../core/exit-codes.ts'
import { usage } from '../core/failure.ts'
import { instantOf } from '../core/instants.ts'
import type { Answer } from '../session/pages.ts'
import type { Session } from '../session/session.ts'
import { untilDone } from '../session/wait.ts'

/** Flags of the commands that change several jobs. */
export interface BulkFlags {
  status?: string
  since?: string
  until?: string
  plan?: boolean
}

type Bulk = Answer<'cancelJobs'>
type Action = Bulk['action']

const DONE = { cancel: 'cancelled', retry: 'queued again' } as const

/** Cancels or retries one job, several jobs, or all that the flags match (CMD-24). Throws a usage error if no jobs are selected. */
export async function changeJobs(
  session: Session,
  action: Action,
  endpointId: string,
  jobIds: readonly string[],
  flags: BulkFlags,
): Promise<number> {
  const hasFilter = flags.status !== undefined || flags.since !== undefined || flags.until !== undefined
  const [only] = jobIds
  if (only === undefined && !hasFilter)
    throw usage('no jobs selected', `podplane jobs ${action} <endpoint> <job>, or select jobs with --status and check them with --plan`)
  if (only !== undefined && jobIds.length === 1 && !hasFilter && !flags.plan) return await changeOne(session, action, endpointId, only)
  return await changeMany(session, action, endpointId, bodyOf(session, jobIds, flags), flags)
}

async function changeOne(session: Session, action: Action, endpointId: string, jobId: string): Promise<number> {
  const path = { endpointId, jobId }
  const job = action === 'cancel' ? await session.api.cancelJob({ path }) : await session.api.retryJob({ path })
  session.out.done(job, jobId, `job ${jobId} is ${DONE[action]}`)
  return EXIT.OK
}

async function changeMany(
  session: Session,
  action: Action,
  endpointId: string,
  body: ApiBody<'cancelJobs'>,
  { plan: isPlan }: BulkFlags,
): Promise<number> {
  const { api, out } = session
  const path = { endpointId }
  const ask = action === 'cancel' ? api.cancelJobs : api.retryJobs
  const plan = await ask({ path, body, query: { dryRun: true } })
  const what = `${plan.matched} jobs (${Object.entries(plan.byStatus)
    .map(([status, count]) => `${count} ${status}`)
    .join(', ')})`
  if (isPlan || plan.matched === 0) {
    out.list(plan, plan.ids, { columns: [{ name: 'id', of: (id) => id }], idOf: (id) => id, empty: 'no matching jobs' })
    if (plan.matched > 0)
      out.talk(`${action} would change ${what}${costOf(plan)}${plan.matched > plan.ids.length ? '; only the first are listed' : ''}`)
    return EXIT.OK
  }
  await session.confirm(`${action === 'cancel' ? 'Cancel' : 'Retry'} ${what}${costOf(plan)}?`)
  // The plane refuses if the number of matching jobs differs from the confirmed one.
  const started = await ask({ path, body: { ...body, expected: plan.matched } })
  const bulk = await untilOver(session, endpointId, started)
  out.record(bulk, bulk.id ?? undefined)
  out.talk(
    `${bulk.changed} of ${bulk.matched} jobs are ${DONE[action]}${bulk.skipped > 0 ? `; ${bulk.skipped} were skipped, because their state had changed` : ''}`,
  )
  return EXIT.OK
}

function costOf({ estimatedCostUsd }: Bulk): string {
  return estimatedCostUsd === null ? '' : `, about $${estimatedCostUsd}`
}

async function untilOver(session: Session, endpointId: string, started: Bulk): Promise<Bulk> {
  const { id } = started
  if (started.status === 'DONE' || id === null) return started
  return await untilDone(session, `the change ${id}`, async () => {
    const bulk = await session.api.getJobBulk({ path: { endpointId, bulkId: id } })
    return bulk.status === 'DONE' ? { done: bulk } : { why: `${bulk.changed} of ${bulk.matched} jobs` }
  })
}

function bodyOf(session: Session, jobIds: readonly string[], { status, since, until }: BulkFlags): ApiBody<'cancelJobs'> {
  const states = status?.split(',').map((one) => one.trim().toUpperCase())
  const members = given({
    ids: jobIds.length === 0 ? undefined : [...jobIds],
    status: states,
    from: instantOf('--since', since, session.io.nowMs()),
    to: instantOf('--until', until, session.io.nowMs()),
  })
  // The API checks the states; its error lists the valid ones.
  return members as ApiBody<'cancelJobs'>
}
