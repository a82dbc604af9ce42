import type { EndpointConfig } from '../../domain/endpoint/record.ts'
import { decideScaling, type ScalingInputs, waitingSampleSize } from '../../domain/worker/scaling.ts'
import type { PlacingWorker } from '../../domain/worker/worker.ts'
import { drainWorker } from '../transitions.ts'
import { liveConfig, type Tx } from '../tx.ts'
import { occupiedWorkers } from '../worker-rows.ts'

/** Policy of a deleted or suspended endpoint, whose `max` is 0. */
const NO_POLICY = { type: 'REQUEST_COUNT', requestCount: 1 } as const
const ALPHABET = '0123456789abcdefghijklmnopqrstuv'
const WORKER_ID_CHARS = 14
const BOOT_CHARS = 22

/**
 * Compares the workers with the demand of the queue and writes the difference as rows. Returns the time of the next decision if no event
 * causes an earlier one.
 */
export function planWorkers(tx: Tx): number | null {
  const { workers, decisions } = tx.state
  const config = liveConfig(tx.state)
  const inputs = scalingInputs(tx)
  const decision = decideScaling(inputs)
  decisions.note(decision, inputs)
  for (let i = 0; config && i < decision.start; i++) workers.save(newWorker(tx, config))
  for (const id of decision.stop) {
    const worker = workers.get(id)
    if (worker) drainWorker(tx, worker, 'not needed')
  }
  return decision.nextAtMs
}

/** Inputs of a decision about workers. */
export function scalingInputs({ state, nowMs }: Pick<Tx, 'state' | 'nowMs'>): ScalingInputs {
  const config = liveConfig(state)
  // A suspended account has no workers, even if jobs wait (DER-40).
  const isServed = config !== null && !state.meta.suspended()
  const policy = (isServed ? config.scaling : null) ?? NO_POLICY
  const isBalanced = config?.type === 'LOAD_BALANCER'
  const queued = isBalanced ? state.requests.waiting() : state.jobs.queuedNormal
  const inputs = {
    policy,
    isBalanced,
    queued,
    workers: state.workers.all(),
    held: occupiedWorkers(state),
    // Read only where it is needed: with an empty queue, a queue delay demands no worker.
    heldNormal: heldNormal(state, isBalanced, queued > 0 || policy.type === 'REQUEST_COUNT'),
    min: isServed ? config.workers.min : 0,
    max: isServed ? config.workers.max : 0,
    idleTimeoutMs: (config?.workers.idleTimeoutSeconds ?? 0) * 1000,
    version: config?.version ?? 0,
    launchNotBeforeMs: state.meta.launch().notBeforeMs,
    nowMs,
  }
  return { ...inputs, waitingSinceMs: state.jobs.waitingSinceMs(waitingSampleSize(inputs)) }
}

function heldNormal({ jobs, requests }: Tx['state'], isBalanced: boolean, isChecked: boolean): ReadonlyMap<string, number> {
  if (isBalanced) return requests.held()
  return isChecked ? jobs.heldNormalCounts() : new Map()
}

function newWorker({ state, nowMs }: Tx, { version, container, compute }: EndpointConfig): PlacingWorker {
  const randomText = (chars: number) => Array.from(state.randomBytes(chars), (byte) => ALPHABET[byte & 31]).join('')
  return {
    id: randomText(WORKER_ID_CHARS),
    boot: randomText(BOOT_CHARS),
    version,
    image: container.image,
    gpuCount: compute.kind === 'gpu' ? compute.count : 0,
    phase: 'PLACING',
    hostId: null,
    gpuTypeId: null,
    dataCenterId: null,
    createdAtMs: nowMs,
    startedAtMs: null,
    worked: false,
    reason: null,
    nextAttemptAtMs: nowMs,
    attempts: 0,
  }
}
