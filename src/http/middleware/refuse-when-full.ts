import type { Next } from 'hono'
import { isKnownFull } from '../../effects/storage.ts'
import { storageFull } from '../answers/problem-response.ts'
import type { AppContext } from '../app-env.ts'

/** Paths of requests that stop or remove something: a full disk serves them too, as long as its reserve lasts. */
const MAY_FREE = /\/(action|stop)$/

/** Refuses to create anything while the disk is full (PLANE-12); running work can still end and stored data can be read. */
export async function refuseWhenFull(c: AppContext, next: Next): Promise<void> {
  const addsSomething = c.req.method === 'POST' && !MAY_FREE.test(c.req.path)
  if (addsSomething && isKnownFull(c.env, Date.now(), (work) => c.executionCtx.waitUntil(work))) throw storageFull()
  await next()
}
