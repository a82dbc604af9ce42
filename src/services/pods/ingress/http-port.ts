import { Problem } from '../../../contract/problems.ts'
import { openDatabase } from '../../../db/client.ts'
import { findPodIngress, type PodIngress } from '../../../db/pods/pod-ingress.ts'
import type { Env } from '../../../env.ts'
import { ExpiringCache } from '../../../platform/expiring-cache.ts'
import { lookUpFor } from '../../credentials/lookups.ts'

/** Cache time in milliseconds: for so long, a pod that has stopped still counts as running for callers that reached it before. */
const REMEMBERED_MS = 3_000
const MAX_PORT = 65_535
const MAX_REMEMBERED = 10_000

const remembered = new ExpiringCache<PodIngress>(REMEMBERED_MS, MAX_REMEMBERED)

/**
 * Returns the pod behind an HTTP port for any caller that has its id: the address is the secret, as it has 72 random bits (NET-12). Throws
 * 404 for a pod that does not exist, whose account is suspended, or that has not declared the port as `<port>/http`; 409 while it does not
 * run; 429 after too many unknown pods. `source`: key for counting failed lookups; null: unknown.
 */
export async function findHttpPort(env: Env, podId: string, port: number, source: string | null, nowMs: number): Promise<PodIngress> {
  const pod = remembered.get(podId, nowMs) ?? (await lookUp(env, podId, source, nowMs))
  if (pod.isBlocked || pod.status === 'TERMINATED') throw new Problem('notFound', { detail: 'pod not found' })
  if (port > MAX_PORT || !pod.ports.includes(`${port}/http`)) {
    throw new Problem('notFound', { detail: `the pod does not expose port ${port} as ${port}/http, so it is not served here` })
  }
  if (pod.status !== 'RUNNING') throw new Problem('conflict', { detail: `the pod is ${pod.status}: it is served only while it is RUNNING` })
  return pod
}

async function lookUp(env: Env, podId: string, source: string | null, nowMs: number): Promise<PodIngress> {
  const find = () => findPodIngress(openDatabase(env.DB), podId)
  const lookup = source === null ? { found: await find() } : await lookUpFor(`pods from ${source}`, nowMs, find)
  if ('waitSeconds' in lookup) {
    const detail = `this address requested too many unknown pods; retry in ${lookup.waitSeconds} seconds`
    throw new Problem('rateLimited', { detail, headers: { 'Retry-After': String(lookup.waitSeconds) } })
  }
  if (lookup.found === null) throw new Problem('notFound', { detail: 'pod not found' })
  if (lookup.found.status === 'RUNNING') remembered.set(podId, lookup.found, nowMs)
  return lookup.found
}
