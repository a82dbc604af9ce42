import { instantOf } from '../core/instants.ts'
import { type Column, columns } from '../output/columns.ts'
import { type Answer, readPages } from '../session/pages.ts'
import type { Session } from '../session/session.ts'

/** Flags of `jobs list`. */
export interface JobListFlags {
  all?: boolean
  status?: string
  since?: string
  id?: string
}

/** Lists jobs of an endpoint by state, time and id. */
export async function listJobs(session: Session, endpointId: string, { all, status, since, id }: JobListFlags): Promise<void> {
  const from = instantOf('--since', since, session.io.nowMs())
  const { api, out } = session
  const answer = await readPages(session, (query) => api.listRequests({ path: { endpointId }, query: { ...query, status, from, id } }), all)
  const shown = columns<(typeof answer.requests)[number]>('id', 'status', 'createdAt', 'delayTime', 'executionTime', 'workerId', 'error')
  out.list(answer, answer.requests, {
    columns: shown,
    idOf: (job) => job.id,
    empty: `no matching jobs; podplane run ${endpointId} '{…}' sends one`,
  })
}

type Attempt = Answer<'getJobTimeline'>['attempts'][number]

export const ATTEMPT_COLUMNS: readonly Column<Attempt>[] = [
  { name: 'attempt', of: ({ attempt }) => attempt },
  { name: 'outcome', of: ({ outcome }) => outcome, as: 'status' },
  { name: 'worker', of: ({ worker }) => worker.id },
  { name: 'phases', of: ({ phases }) => phases.map(({ phase, ms }) => `${phase} ${ms} ms`) },
  { name: 'cost', of: ({ costUsd }) => costUsd },
  { name: 'reason', of: ({ reason }) => reason },
]

/** Prints the timeline of a job, one attempt per line. */
export async function printTimeline(session: Session, endpointId: string, jobId: string): Promise<void> {
  const answer = await session.api.getJobTimeline({ path: { endpointId, jobId } })
  session.out.list(answer, answer.attempts, {
    columns: ATTEMPT_COLUMNS,
    idOf: ({ worker }) => worker.id,
    empty: `no attempt yet; podplane jobs why ${endpointId} ${jobId} gives the reason`,
  })
  const cost = answer.costUsd === null ? '' : `, $${answer.costUsd}`
  session.out.talk(
    `${answer.status}, created at ${answer.createdAt}${answer.finishedAt === null ? '' : `, ended at ${answer.finishedAt}`}${cost}`,
  )
}
