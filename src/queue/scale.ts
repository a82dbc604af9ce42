import type { EndpointCore } from '../../durable-objects/endpoint/core.ts'
import type { EndpointConfig } from '../domain/endpoint/record.ts'
import { decideScaling, type ScalingInputs, waitingSampleSize } from '../domain/worker/scaling.ts'
import type { Worker } from '../domain/worker/worker.ts'
import type { Effects } from './effects.ts'
import { drainWorker } from './transitions.ts'

/** Of an endpoint that is deleted: its `max` is 0. */
const NO_POLICY = { type: 'REQUEST_COUNT', requestCount: 1 } as const

/** Inside the transaction: compares workers with what the queue wants, and writes the difference as rows. */
export function planWorkers(core: EndpointCore, effects: Effects): void {
  const nowMs = core.now()
  const config = core.config()
  const inputs = loadInputs(core, config, nowMs)
  const decision = decideScaling(inputs)
  core.timers.scaleAtMs = decision.nextAtMs
  core.decisions.note(decision, inputs)
  for (let i = 0; config && i < decision.start; i++) core.workers.save(newWorker(config, nowMs))
  for (const id of decision.stop) {
    const worker = core.workers.get(id)
    if (worker) drainWorker(core, worker, 'not needed any more', nowMs, effects)
  }
}

function loadInputs(core: EndpointCore, config: EndpointConfig | null, nowMs: number): ScalingInputs {
  const policy = config?.scaling ?? NO_POLICY
  const queued = core.jobs.queuedNormal
  const inputs = {
    policy,
    queued,
    workers: core.workers.all(),
    held: core.occupied(),
    // Read only where it is looked at: with nothing waiting, a queue delay asks for nothing.
    heldNormal: queued > 0 || policy.type === 'REQUEST_COUNT' ? core.jobs.heldNormalCounts() : new Map<string, number>(),
    min: config?.workers.min ?? 0,
    max: config?.workers.max ?? 0,
    idleTimeoutMs: (config?.workers.idleTimeoutSeconds ?? 0) * 1000,
    version: config?.version ?? 0,
    launchNotBeforeMs: core.meta.launch().notBeforeMs,
    nowMs,
  }
  return { ...inputs, waitingSinceMs: core.jobs.waitingSinceMs(waitingSampleSize(inputs)) }
}

function newWorker({ version, container, compute }: EndpointConfig, nowMs: number): Worker {
  return {
    id: randomText(14),
    boot: randomText(22),
    version,
    image: container.image,
    gpuCount: compute.kind === 'gpu' ? compute.count : 0,
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
    excusedUntilMs: null,
  }
}

const ALPHABET = '0123456789abcdefghijklmnopqrstuv'

function randomText(length: number): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(length)), (byte) => ALPHABET[byte & 31]).join('')
}
