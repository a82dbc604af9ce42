import { isThrottled, type Worker } from '../../../src/domain/worker/worker.ts'
import { dropCapacityWaiter } from '../../../src/effects/capacity.ts'
import { placeWorker, removeWorker } from '../../../src/effects/workers/place-worker.ts'
import { logEvent } from '../../../src/platform/log.ts'
import {
  applyPlacement,
  applyRemoval,
  dueCalls,
  isJobWaiting,
  leavingWorkers,
  type Placement,
} from '../../../src/queue/workers/outside-calls.ts'
import type { Clock, Commits, Outside, Placing, Rows } from '../parts.ts'

/** Parts that the external calls about workers use. */
export type WorkerCalls = Clock & Commits & Outside & Placing & Rows

/** Represents the endpoint itself in the set of workers with a call in progress. */
const WAITER = 'capacity waiter'

/** After the commit: places and removes workers. The external calls run concurrently; each ends in its own transaction. */
export function runWorkerEffects(core: WorkerCalls): void {
  for (const call of dueCalls(core.state, core.now(), core.placing.inFlight)) {
    const { worker } = call
    if (call.kind === 'place') void track(core, worker.id, () => place(core, worker))
    else void track(core, worker.id, () => remove(core, worker, call.graceMs))
  }
  if (core.state.meta.waitsForCapacity() && !core.placing.inFlight.has(WAITER) && !core.state.workers.all().some(isThrottled))
    void track(core, WAITER, () => stopWaiting(core))
}

/** Capacity may be free: places the worker that has waited longest. False when no worker waits. */
export async function placeThrottled(core: WorkerCalls): Promise<boolean> {
  core.placing.capacityChanges++
  const throttled = core.state.workers.all().filter(isThrottled)
  const next = throttled.find((worker) => !core.placing.inFlight.has(worker.id))
  if (next) await track(core, next.id, () => place(core, next))
  return throttled.length > 0
}

// A row that could not be deleted is deleted when the endpoint is next notified of capacity and needs none.
async function stopWaiting(core: WorkerCalls): Promise<void> {
  const endpointId = core.state.meta.config()?.id ?? ''
  await dropCapacityWaiter(core.env, endpointId).catch((error: unknown) => logEvent('warn', 'capacity waiter not removed', { error }))
  await core.transact(({ state }) => {
    if (!state.workers.all().some(isThrottled)) state.meta.setWaitsForCapacity(false)
  })
}

async function track(core: WorkerCalls, id: string, call: () => Promise<void>): Promise<void> {
  core.placing.inFlight.add(id)
  try {
    await call()
  } catch (error) {
    logEvent('error', 'worker effect failed', { workerId: id, error })
  } finally {
    core.placing.inFlight.delete(id)
  }
  // The desired state of this worker may have changed during the call.
  await core.transact(({ effects }) => {
    effects.scale = true
  })
}

async function place(core: WorkerCalls, worker: Worker): Promise<void> {
  const config = core.config()
  if (!config) return
  const changesBefore = core.placing.capacityChanges
  const { state, settings } = core
  const wanted = { config, workerId: worker.id, boot: worker.boot, pingIntervalMs: settings.workerPingIntervalMs }
  const room = { isForJob: isJobWaiting(state), leavingIds: leavingWorkers(state) }
  const placed = await placeWorker(core.env, { ...wanted, ...room }).catch((error: unknown): Placement => {
    logEvent('error', 'placement failed', { workerId: worker.id, error })
    return { ok: false, reason: 'placement failed; it is tried again' }
  })
  await core.transact((tx) => applyPlacement(tx, worker.id, placed, core.placing.capacityChanges !== changesBefore))
}

async function remove(core: WorkerCalls, worker: Worker, graceMs: number): Promise<void> {
  const outcome = await removeWorker(core.env, worker.id, graceMs).catch((error: unknown) => {
    logEvent('warn', 'worker removal failed', { workerId: worker.id, error })
    return 'requested' as const
  })
  await core.transact((tx) => applyRemoval(tx, worker.id, outcome))
}
