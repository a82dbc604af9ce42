import { isThrottled, placementRetryMs, removalRepeatMs, type Worker } from '../../../src/domain/worker/worker.ts'
import { forgetCapacityWaiter } from '../../../src/effects/capacity.ts'
import { type Placed, placeWorker, removeWorker } from '../../../src/effects/place-worker.ts'
import { logEvent } from '../../../src/platform/log.ts'
import type { Effects } from '../../../src/queue/effects.ts'
import { DRAIN_GRACE_MS, drainWorker, endLeases } from '../../../src/queue/transitions.ts'
import type { EndpointCore } from '../core.ts'

/** Stands for the endpoint itself among the workers with a call under way. */
const WAITER = 'capacity waiter'

/** After the commit: asks for hosts and for removals. Outside calls run beside each other; each ends in a transaction of its own. */
export function runWorkerEffects(core: EndpointCore): void {
  const nowMs = core.now()
  const held = core.jobs.heldCounts()
  for (const worker of core.workers.all()) {
    if (worker.nextAttemptAtMs > nowMs || core.inFlight.has(worker.id)) continue
    if (worker.phase === 'PLACING') void track(core, worker.id, () => place(core, worker))
    // WRK-29: the stop signal comes after the last job, not before.
    if (worker.phase === 'DRAINING' && !held.has(worker.id)) void track(core, worker.id, () => remove(core, worker, DRAIN_GRACE_MS))
    if (worker.phase === 'FAILED' && !worker.released) void track(core, worker.id, () => remove(core, worker, 0))
  }
  if (core.meta.waitsForCapacity() && !core.inFlight.has(WAITER) && !core.workers.all().some(isThrottled))
    void track(core, WAITER, () => stopWaiting(core))
}

/** Capacity may have appeared: the worker that has waited longest looks for a host now. False when none waits here. */
export async function placeThrottled(core: EndpointCore): Promise<boolean> {
  core.capacityNews++
  const throttled = core.workers.all().filter(isThrottled)
  const next = throttled.find((worker) => !core.inFlight.has(worker.id))
  if (next) await track(core, next.id, () => place(core, next))
  return throttled.length > 0
}

// A row that could not be deleted is found useless, and deleted, when the endpoint is next told of capacity.
async function stopWaiting(core: EndpointCore): Promise<void> {
  const endpointId = core.meta.config()?.id ?? ''
  await forgetCapacityWaiter(core.env, endpointId).catch((error: unknown) => logEvent('warn', 'capacity waiter not removed', { error }))
  await core.transact(() => {
    if (!core.workers.all().some(isThrottled)) core.meta.setWaitsForCapacity(false)
  })
}

async function track(core: EndpointCore, id: string, call: () => Promise<void>): Promise<void> {
  core.inFlight.add(id)
  try {
    await call()
  } catch (error) {
    logEvent('error', 'worker effect failed', { workerId: id, error: String(error) })
  } finally {
    core.inFlight.delete(id)
  }
  // What the state wants of this worker may have changed while the call was under way.
  await core.transact((effects) => {
    effects.scale = true
  })
}

async function place(core: EndpointCore, worker: Worker): Promise<void> {
  const config = core.config()
  if (!config) return
  const news = core.capacityNews
  const pingIntervalMs = core.settings.workerPingIntervalMs
  const placed = await placeWorker(core.env, { config, workerId: worker.id, boot: worker.boot, pingIntervalMs }).catch(
    (error: unknown): Placed => {
      logEvent('error', 'placement failed', { workerId: worker.id, error })
      return { ok: false, reason: 'placement failed; it is tried again' }
    },
  )
  await core.transact((effects) => {
    const now = core.workers.get(worker.id)
    // Whatever became of the worker meanwhile, the search has left a row in the list of those that wait.
    if (!placed.ok && !placed.abandon) core.meta.setWaitsForCapacity(true)
    // Drained or failed meanwhile: its row goes on asking for removal, which finds what was placed.
    if (now?.phase !== 'PLACING') return
    if (placed.ok) {
      const { hostId, gpuTypeId, dataCenterId } = placed
      core.workers.save({ ...now, phase: 'STARTING', hostId, gpuTypeId, dataCenterId, reason: 'starting', attempts: 0 })
      wakeNextThrottled(core)
    } else if (placed.abandon) {
      drainWorker(core, now, placed.reason, core.now(), effects)
    } else {
      const attempts = now.attempts + 1
      const delayMs = core.capacityNews === news ? placementRetryMs(attempts) : 0
      core.workers.save({ ...now, attempts, reason: placed.reason, nextAttemptAtMs: core.now() + delayMs })
    }
    effects.scale = true
  })
}

// Where one found room there may be more: the next one looks at once, and so on until one finds none.
function wakeNextThrottled(core: EndpointCore): void {
  const next = core.workers.all().find(isThrottled)
  if (next) core.workers.save({ ...next, nextAttemptAtMs: core.now() })
}

async function remove(core: EndpointCore, worker: Worker, graceMs: number): Promise<void> {
  const outcome = await removeWorker(core.env, worker.id, graceMs).catch((error: unknown) => {
    logEvent('warn', 'worker removal failed', { workerId: worker.id, error })
    return 'failed' as const
  })
  await core.transact((effects) => {
    const now = core.workers.get(worker.id)
    if (!now || (now.phase !== 'DRAINING' && now.phase !== 'FAILED')) return
    if (outcome === 'none') forgetWorker(core, now, effects)
    else core.workers.save({ ...now, attempts: now.attempts + 1, nextAttemptAtMs: core.now() + removalRepeatMs(now.attempts) })
  })
}

/** Nothing of this worker is left on any host, so nothing holds its jobs either. A failed one stays readable for a while. */
export function forgetWorker(core: EndpointCore, worker: Worker, effects: Effects): void {
  endLeases(core, worker.id, 'its worker is gone', core.now(), false, effects)
  if (worker.phase === 'FAILED') core.workers.save({ ...worker, released: true })
  else core.workers.remove(worker.id)
}
