import type { ApiBody } from '../../client/client.ts'
import { given, readBody } from '../core/body.ts'
import { EXIT } from '../core/exit-codes.ts'
import { usage } from '../core/failure.ts'
import { planEach } from '../session/change-plan.ts'
import type { Answer } from '../session/pages.ts'
import type { Session } from '../session/session.ts'

type Changes = ApiBody<'updateEndpoint'>
type Endpoint = Answer<'getEndpoint'>

/** Changes fields of an endpoint, or prints the plan. */
export async function updateEndpoint(session: Session, id: string, { body, plan }: { body: string; plan?: boolean }): Promise<number> {
  const changes = (await readBody(session.io, body)) as Changes
  if (plan) return await planUpdate(session, id, changes)
  session.out.done(await session.api.updateEndpoint({ path: { id }, body: changes }), id, `endpoint ${id} changed`)
  return EXIT.OK
}

/** Changes the minimum and maximum number of an endpoint's workers, or prints the plan. Throws a usage error if neither is given. */
export async function scaleEndpoint(
  session: Session,
  id: string,
  { min, max, plan }: { min?: number; max?: number; plan?: boolean },
): Promise<number> {
  if (min === undefined && max === undefined)
    throw usage('no number of workers given', 'podplane endpoints scale <endpoint> --min 1 --max 5')
  const changes: Changes = { workers: given({ min, max }) }
  if (plan) return await planUpdate(session, id, changes)
  const endpoint = (await session.api.updateEndpoint({ path: { id }, body: changes })) as Endpoint
  session.out.done(endpoint, id, `endpoint ${id} has ${endpoint.workers.min} to ${endpoint.workers.max} workers`)
  return EXIT.OK
}

async function planUpdate(session: Session, id: string, changes: Changes): Promise<number> {
  return await planEach(session, [id], (one, query) => session.api.updateEndpoint({ path: { id: one }, body: changes, query }))
}

/** Deletes endpoints after a confirmation, or prints the plan. Returns the exit code. */
export async function deleteEndpoints(session: Session, ids: readonly string[], { plan }: { plan?: boolean }): Promise<number> {
  if (plan) return await planEach(session, ids, (id, query) => session.api.deleteEndpoint({ path: { id }, query }))
  await session.confirm(`Delete ${ids.join(', ')}? Their jobs and results are lost.`)
  for (const id of ids) {
    await session.api.deleteEndpoint({ path: { id } })
    session.out.done(undefined, id, `endpoint ${id} is deleted`)
  }
  return EXIT.OK
}
