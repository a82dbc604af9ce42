import { decideScaling } from '../../src/domain/scaling.ts'
import { placementRetryMs, removalRepeatMs, type Worker } from '../../src/domain/worker.ts'
import { logEvent } from '../../src/log.ts'
import { type Placed, placeWorker, removeWorker } from '../../src/services/placement.ts'
import type { EndpointCore } from './core.ts'
import type { Effects } from './effects.ts'
import { DRAIN_GRACE_MS, drainWorker, endLeases } from './transitions.ts'

/** Inside the transaction: compares workers with what the queue wants, and writes the difference as rows. */
export function planWorkers(core: EndpointCore, effects: Effects): void {
  const nowMs = core.now()
  const config = core.config()
  const launch = core.meta.launch()
  const decision = decideScaling({
    queued: core.jobs.queuedNormal,
    workers: core.workers.all(),
    held: core.occupied(),
    min: config?.workers.min ?? 0,
    max: config?.workers.max ?? 0,
    idleTimeoutMs: (config?.workers.idleTimeoutSeconds ?? 0) * 1000,
    version: config?.version ?? 0,
    launchNotBeforeMs: launch.notBeforeMs,
    nowMs,
  })
  core.timers.scaleAtMs = decision.nextAtMs
  for (let i = 0; i < decision.start; i++) core.workers.save(newWorker(config?.version ?? 0, nowMs))
  for (const id of decision.stop) {
    const worker = core.workers.get(id)
    if (worker) drainWorker(core, worker, 'not needed any more', nowMs, effects)
  }
}

function newWorker(version: number, nowMs: number): Worker {
  return {
    id: randomText(14),
    boot: randomText(22),
    version,
    phase: 'PLACING',
    hostId: null,
    gpuTypeId: null,
    dataCenterId: null,
    createdAtMs: nowMs,
    startedAtMs: null,
    lastSeenAtMs: null,
    idleSinceMs: null,
    reason: null,
    nextAttemptAtMs: nowMs,
    attempts: 0,
    forgetAtMs: null,
    released: false,
    lastTakeAtMs: null,
  }
}

const ALPHABET = '0123456789abcdefghijklmnopqrstuv'

function randomText(length: number): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(length)), (byte) => ALPHABET[byte & 31]).join('')
}

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
}

async function track(core: EndpointCore, workerId: string, call: () => Promise<void>): Promise<void> {
  core.inFlight.add(workerId)
  try {
    await call()
  } catch (error) {
    logEvent('error', 'worker effect failed', { workerId, error: String(error) })
  } finally {
    core.inFlight.delete(workerId)
  }
  // What the state wants of this worker may have changed while the call was under way.
  await core.transact((effects) => {
    effects.scale = true
  })
}

async function place(core: EndpointCore, worker: Worker): Promise<void> {
  const config = core.config()
  if (!config) return
  const pingIntervalMs = core.settings.workerPingIntervalMs
  const placed = await placeWorker(core.env, { config, workerId: worker.id, boot: worker.boot, pingIntervalMs }).catch(
    (error: unknown): Placed => {
      logEvent('error', 'placement failed', { workerId: worker.id, error })
      return { ok: false, reason: 'placement failed; it is tried again' }
    },
  )
  await core.transact((effects) => {
    const now = core.workers.get(worker.id)
    // Drained or failed meanwhile: its row goes on asking for removal, which finds what was placed.
    if (now?.phase !== 'PLACING') return
    if (placed.ok) {
      const { hostId, gpuTypeId, dataCenterId } = placed
      core.workers.save({ ...now, phase: 'STARTING', hostId, gpuTypeId, dataCenterId, reason: 'starting', attempts: 0 })
    } else if (placed.abandon) {
      drainWorker(core, now, placed.reason, core.now(), effects)
    } else {
      const attempts = now.attempts + 1
      core.workers.save({ ...now, attempts, reason: placed.reason, nextAttemptAtMs: core.now() + placementRetryMs(attempts) })
    }
    effects.scale = true
  })
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
