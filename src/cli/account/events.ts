import { parseInstant } from '../core/durations.ts'
import { usage } from '../core/failure.ts'
import type { Column } from '../output/columns.ts'
import { type Answer, readPages } from '../session/pages.ts'
import type { Session } from '../session/session.ts'

export interface EventFlags {
  all?: boolean
  resource?: string
  actor?: string
  action?: string
  since?: string
}

type Event = Answer<'listEvents'>['events'][number]

const COLUMNS: readonly Column<Event>[] = [
  { name: 'at', of: ({ at }) => at, as: 'time' },
  { name: 'action', of: ({ action }) => action },
  { name: 'targets', of: ({ targets }) => targets.map(({ id }) => id) },
  { name: 'message', of: ({ message }) => message },
]

/** Lists the events of the account, newest first. */
export async function listEvents(session: Session, { all, since, ...wanted }: EventFlags): Promise<void> {
  const { api, io, out } = session
  const from = since === undefined ? undefined : parseInstant(since, io.nowMs())
  if (since !== undefined && from === undefined)
    throw usage(`--since ${since}: it must be a duration such as 1h, or a time such as 2026-06-01T12:00:00Z`)
  const { resource, actor, action } = wanted
  const answer = await readPages(session, (query) => api.listEvents({ query: { ...query, resource, actor, action, from } }), all)
  out.list(answer, answer.events, { columns: COLUMNS, idOf: ({ id }) => id, empty: 'no events' })
}
