import { nextOf, opened } from '../../client/page.ts'
import { instantOf } from '../core/instants.ts'
import { type Column, columns } from '../output/columns.ts'
import type { Answer } from '../session/pages.ts'
import type { Session } from '../session/session.ts'

type Event = Answer<'getEndpointTimeline'>['events'][number]

const COLUMNS: readonly Column<Event>[] = [
  ...columns<Event>('at', 'kind'),
  { name: 'what', of: whatOf },
  { name: 'reason', of: ({ reason, decision }) => reason ?? decision?.reason },
]

function whatOf({ workerId, phase, release, decision }: Event): string {
  if (workerId !== null) return `worker ${workerId} ${phase ?? ''}`.trim()
  return decision === null ? `release ${release}` : `${decision.current} to ${decision.desired} workers`
}

/** Prints the events of an endpoint, newest first: workers, scaler decisions, releases. */
export async function printTimeline(session: Session, id: string, { since }: { since: string }): Promise<void> {
  const from = instantOf('--since', since, session.io.nowMs())
  const page = await session.api.getEndpointTimeline({ path: { id }, query: { from } })
  if (nextOf(page) !== null) session.out.talk('only the newest are shown; a shorter --since shows all of its time')
  const answer = opened(page)
  session.out.list(answer, answer.events, { columns: COLUMNS, idOf: ({ at }) => at, empty: 'no entries' })
}
