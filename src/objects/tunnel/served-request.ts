import { PROBLEMS, Problem, type ProblemKey } from '../../contract/problems.ts'
import type { Env } from '../../env.ts'
import { logEvent } from '../../platform/log.ts'
import { type Caller, withCaller } from '../caller.ts'
import type { SlotRef } from '../host-tunnel.ts'
import type { Owned } from '../owned.ts'
import { endpointStub } from '../stubs.ts'

/** A place at a worker of a load-balancing endpoint, and what goes there. */
export interface SlotGrant {
  slot: SlotRef & { hostId: string }
  /** On which the worker listens. */
  port: number
  timeoutMs: number
}

const SLOT_URL = 'https://endpoint/slot'

/** Whether a call of an endpoint's object asks for a place. Only the Worker calls the object, and the job API has other paths. */
export function isSlotCall(url: URL): boolean {
  return url.pathname === '/slot'
}

/**
 * A place for one request; waits for it as long as a request may. Throws the problem that there is instead. The caller names the lease, so that
 * it can give back a place of which it never heard.
 */
export async function takeSlot(
  env: Env,
  endpoint: Owned<'endpoint'>,
  caller: Caller,
  lease: string,
  signal: AbortSignal,
): Promise<SlotGrant> {
  const url = new URL(SLOT_URL)
  url.searchParams.set('lease', lease)
  url.searchParams.set('endpoint', endpoint.id)
  const reply = await endpointStub(env, endpoint).fetch(withCaller(new Request(url, { signal }), caller))
  if (reply.ok) return (await reply.json()) as SlotGrant
  throw new Problem(keyOf(reply.status), { detail: detailOf(await reply.text()), headers: retryOf(reply.headers) })
}

/** Gives a place back whose request may not have reached the tunnel of its worker. Nothing happens to one that is free already. */
export async function giveBackSlot(env: Env, endpoint: Owned<'endpoint'>, lease: string): Promise<void> {
  await endpointStub(env, endpoint)
    .giveBackSlot(lease)
    .catch((error: unknown) => logEvent('warn', 'a slot could not be given back', { endpointId: endpoint.id, error }))
}

function keyOf(status: number): ProblemKey {
  const key = (Object.keys(PROBLEMS) as ProblemKey[]).find((one) => PROBLEMS[one].status === status)
  return key ?? 'internal'
}

function detailOf(body: string): string {
  const { error, detail } = JSON.parse(body) as { error?: string; detail?: string }
  return error ?? detail ?? 'the endpoint cannot answer right now'
}

function retryOf(headers: Headers): Record<string, string> {
  const seconds = headers.get('retry-after')
  return seconds === null ? {} : { 'Retry-After': seconds }
}
