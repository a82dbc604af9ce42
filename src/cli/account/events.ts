import { instantOf } from '../core/instants.ts'
import { type Column, columns } from '../output/columns.ts'
import { type Answer, readPages } from '../session/pages.ts'
import type { Session } from '../session/session.ts'

/** Flags of `events`. */
export interface EventFlags {
  all?: boolean
  resource?: string
  actor?: string
  action?: string
  since?: string
}

type Event = Answer<'listEvents'>['events'][number]

const COLUMNS: readonly Column<Event>[] = [
  ...columns<Event>('at', 'action'),
  { name: 'targets', of: ({ targets }) => targets.map(({ id }) => id) },
  ...columns<Event>('message'),
]

/** Lists the events of the account, newest first. */
export async function listEvents(session: Session, { all, since, ...wanted }: EventFlags): Promise<void> {
  const { api, io, out } = session
  const from = instantOf('--since', since, io.nowMs())
  const { resource, actor, action } = wanted
  const answer = await readPages(session, (query) => api.listEvents({ query: { ...query, resource, actor, action, from } }), all)
  out.list(answer, answer.events, { columns: COLUMNS, idOf: ({ id }) => id, empty: 'no events' })
}
