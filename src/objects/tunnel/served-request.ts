import { PROBLEMS, Problem, type ProblemKey } from '../../contract/problems.ts'
import type { Env } from '../../env.ts'
import { tryLogged } from '../../platform/log.ts'
import { type Caller, withCaller } from '../../rpc/caller.ts'
import type { SlotRef } from '../../rpc/host-tunnel.ts'
import type { Owned } from '../owned.ts'
import { endpointStub } from '../stubs.ts'

/** A slot at a worker of a load-balancing endpoint, with the port and timeout of the request. */
export interface SlotGrant {
  slot: SlotRef & { hostId: string }
  /** Port on which the worker listens. */
  port: number
  timeoutMs: number
}

const SLOT_URL = 'https://endpoint/slot'

/** Whether a request to an endpoint's object is for a slot. Only the Worker calls the object, and the job API has other paths. */
export function isSlotCall(url: URL): boolean {
  return url.pathname === '/slot'
}

/**
 * Takes a slot for one request; waits for it as long as a request may. A free slot is taken by a call with plain data, which costs less than
 * a request that can wait (adr/0010). Throws the refusal as a `Problem`. The caller chooses the lease, so
 * that it can release a slot whose grant never arrived.
 */
export async function takeSlot(
  env: Env,
  endpoint: Owned<'endpoint'>,
  caller: Caller,
  lease: string,
  signal: AbortSignal,
): Promise<SlotGrant> {
  const stub = endpointStub(env, endpoint)
  const grant = await stub.takeSlotNow(endpoint.id, lease, caller).catch(orNullOfEarlierRelease)
  // The caller then gives the slot back: such a call does not see that its client has left.
  signal.throwIfAborted()
  if (grant !== null) return JSON.parse(grant) as SlotGrant
  const url = new URL(SLOT_URL)
  url.searchParams.set('lease', lease)
  url.searchParams.set('endpoint', endpoint.id)
  const reply = await stub.fetch(withCaller(new Request(url, { signal }), caller))
  if (reply.ok) return (await reply.json()) as SlotGrant
  throw new Problem(keyOf(reply.status), { detail: detailOf(await reply.text()), headers: retryOf(reply.headers) })
}

// During a deployment, an object may still run the previous release, which has no such method; its `fetch` decides then.
function orNullOfEarlierRelease(error: unknown): null {
  if (error instanceof Error && error.message.includes('does not implement')) return null
  throw error
}

/** Releases the slot of a request that may not have reached its worker's tunnel. Releasing a free slot does nothing. Never throws. */
export async function giveBackSlot(env: Env, endpoint: Owned<'endpoint'>, lease: string): Promise<void> {
  const endpointId = endpoint.id
  await tryLogged('warn', 'a slot could not be given back', { endpointId }, () => endpointStub(env, endpoint).giveBackSlot(lease))
}

function keyOf(status: number): ProblemKey {
  const key = (Object.keys(PROBLEMS) as ProblemKey[]).find((one) => PROBLEMS[one].status === status)
  return key ?? 'internal'
}

function detailOf(body: string): string {
  const { error, detail } = JSON.parse(body) as { error?: string; detail?: string }
  return error ?? detail ?? 'the endpoint is temporarily unavailable'
}

function retryOf(headers: Headers): Record<string, string> {
  const seconds = headers.get('retry-after')
  return seconds === null ? {} : { 'Retry-After': seconds }
}
