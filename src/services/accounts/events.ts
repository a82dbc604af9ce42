import type { ListEventsQuery, ListEventsResponse } from '../../contract/accounts/events.ts'
import { changeSentence } from '../../domain/audit/sentence.ts'
import type { VerbContext } from '../context.ts'
import { listChanges } from './audit-log.ts'

/** Returns the audit rows that the caller may see as sentences, newest first (AUD-22). Throws the errors of `listChanges`. */
export async function listEvents(ctx: VerbContext, query: ListEventsQuery): Promise<ListEventsResponse> {
  const { entries, pagination } = await listChanges(ctx, query)
  const events = entries.map(({ id, at, actor, action, resource, before, after }) => ({
    id,
    at,
    actor,
    action,
    targets: [resource],
    message: changeSentence({ actor: actor.kind, action, resource, before, after }),
  }))
  return { events, pagination }
}
