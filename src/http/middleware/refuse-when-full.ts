import type { Next } from 'hono'
import { isKnownFull } from '../../effects/storage.ts'
import { storageFull } from '../answers/problem-response.ts'
import type { AppContext } from '../app-env.ts'

/** What may stop or remove something is done on a full disk too, for as long as there is room. */
const MAY_FREE = /\/(action|stop)$/

/** Refuses to make anything new while the disk is full (PLC-3), so that what runs can end and what is stored can be read. */
export async function refuseWhenFull(c: AppContext, next: Next): Promise<void> {
  const addsSomething = c.req.method === 'POST' && !MAY_FREE.test(c.req.path)
  if (addsSomething && isKnownFull(c.env, Date.now(), (work) => c.executionCtx.waitUntil(work))) throw storageFull()
  await next()
}
