import { explainRequests } from '../../src/domain/balancer/waiting-reason.ts'
import type { EndpointConfig } from '../../src/domain/endpoint/record.ts'
import { servingOf } from '../../src/domain/endpoint/serving.ts'
import type { SlotGrant } from '../../src/objects/tunnel/served-request.ts'
import { jobFacts } from '../../src/queue/queue-notes.ts'
import type { QueueState } from '../../src/queue/state.ts'
import { type Caller, callerOf } from '../../src/rpc/caller.ts'
import { jsonReply } from '../../src/rpc/plain-reply.ts'
import type { Entry } from './call-limits.ts'
import type { Clock, Limits, Paced, Rows, Serving } from './parts.ts'
import { endpointNotFound, problemReply } from './replies.ts'
import { MAX_WAITING, type Slot } from './slots.ts'

const RETRY_AFTER = { 'retry-after': '10' }
const NOT_BALANCED = 'this endpoint has a queue; send jobs to its /run, or create an endpoint of type LOAD_BALANCER'

/** Reserves a slot at a worker for one request, at once or within the time that a request may wait (LB-6). */
export async function takeSlot(core: Clock & Limits & Paced & Rows & Serving, request: Request): Promise<Response> {
  const config = core.config()
  if (!config) return endpointNotFound()
  if (config.type !== 'LOAD_BALANCER') return problemReply('badRequest', NOT_BALANCED)
  if (core.state.meta.suspended()) return problemReply('accountSuspended', SUSPENDED)
  if (config.workers.max === 0) return problemReply('unavailable', waitingReason(core.state), RETRY_AFTER)
  const entry = enter(core, callerOf(request))
  if (entry.refusal) return problemReply(entry.refusal.key, entry.refusal.detail, entry.refusal.headers)
  if (core.slots.waiting() >= MAX_WAITING) {
    entry.release()
    return problemReply('unavailable', `${MAX_WAITING} requests already wait for a worker: ${waitingReason(core.state)}`, RETRY_AFTER)
  }
  const waitMs = core.pace.slotWaitMs
  const lease = new URL(request.url).searchParams.get('lease') ?? crypto.randomUUID()
  const slot = await core.slots.take(lease, entry.release, request.signal, waitMs)
  if (!core.config()) return endpointNotFound()
  if (!slot && core.state.meta.suspended()) return problemReply('accountSuspended', SUSPENDED)
  if (!slot) return problemReply('unavailable', `no worker was free within ${waitMs / 1000} s: ${waitingReason(core.state)}`, RETRY_AFTER)
  return jsonReply(grantOf(config, slot))
}

/**
 * Reserves a slot that is free now, for a call with plain data (adr/0010). Null: the request must wait or is refused, which `takeSlot`
 * decides. A call that returned null has used up none of its user's requests.
 */
export function takeSlotNow(core: Clock & Limits & Rows & Serving, lease: string, caller: Caller): string | null {
  const config = core.config()
  if (config === null || config.workers.max === 0) return null
  const slot = core.slots.takeNow(lease, () => enter(core, caller).release ?? null)
  return slot && grantOf(config, slot)
}

/** LB-10: counts the request for its user. */
function enter(core: Clock & Limits & Rows, { exempt, userId }: Caller): Entry {
  if (exempt) return { release: () => undefined }
  return core.limits.enter('load-balancer', userId, core.now(), () => core.state.workers.readyCount())
}

function grantOf(config: EndpointConfig, slot: Slot): string {
  const grant: SlotGrant = { slot, port: servingOf(config).port, timeoutMs: config.timeoutMs }
  return JSON.stringify(grant)
}

const SUSPENDED = 'this account is suspended by the operator of the plane: none of its workloads runs'

/** Explains why requests wait, or would wait. */
export function waitingReason(state: QueueState): string {
  return explainRequests(jobFacts(state, { state: 'IN_QUEUE', lowPriority: false }, { normal: 0, low: 0 }), state.workers.all())
}
