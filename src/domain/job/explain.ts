import type { JobState, WorkerStatus } from '../../contract/enums.ts'
import type { WaitReason } from '../../contract/jobs/explain.ts'
import { type ActiveWorker, isThrottled, type Worker, type WorkerCounts } from '../worker/worker.ts'

/** The facts that an explanation depends on. */
export interface JobFacts {
  state: JobState
  lowPriority: boolean
  /** Queued jobs that are leased before it. */
  ahead: { normal: number; low: number }
  workers: WorkerCounts
  /** The newest problem of a worker. */
  trouble: Trouble | null
  max: number
}

/** A reason why an endpoint lacks workers. */
export interface Trouble {
  /** `replaced`: the worker had taken a job, so another one is started at once (LSE-31). */
  kind: 'capacity' | 'failure' | 'replaced'
  text: string
}

/** Why a job waits. */
export interface Explanation {
  reason: WaitReason
  /** A short text for the status record (STA-2); null if nothing is wrong. */
  cause: string | null
  /** A sentence for a person, with the next step where there is one. */
  detail: string
}

/** The newest problem of an endpoint's workers: one failed, or no host had room for it. */
export function findTrouble(workers: readonly Worker[]): Trouble | null {
  const worker = workers.filter((w) => (w.phase === 'FAILED' || isThrottled(w)) && w.reason !== null).at(-1)
  if (!worker?.reason) return null
  if (worker.phase !== 'FAILED') return { kind: 'capacity', text: worker.reason }
  return { kind: worker.worked ? 'replaced' : 'failure', text: worker.reason }
}

/** The reason for the state that a job is in (HLT-6). Every combination of facts has one reason, the first that applies. */
export function explainJob(facts: JobFacts): Explanation {
  if (facts.state === 'IN_PROGRESS') return plain('RUNNING', 'A worker runs this job.')
  if (facts.state !== 'IN_QUEUE') return plain('FINISHED', `The job is over: ${facts.state}.`)
  return explainWaiting(facts)
}

function explainWaiting(facts: JobFacts): Explanation {
  const { workers, trouble, ahead, max } = facts
  const before = ahead.normal + ahead.low
  const hasReady = workers.ready + workers.running > 0
  if (max === 0) {
    const cause = 'workers.max is 0, so no worker may start'
    return { reason: 'SCALED_TO_ZERO_BY_CONFIG', cause, detail: 'workers.max of this endpoint is 0. Set it to 1 or more to run its jobs.' }
  }
  if (before === 0 && workers.idle > 0) return plain('NEXT', 'A worker is idle and takes this job with its next poll.')
  if (facts.lowPriority && ahead.normal === 0 && !hasReady && workers.initializing + workers.throttled === 0) return lowAlone()
  if (trouble?.kind === 'capacity') {
    const detail = `A worker is needed, but no host has capacity for it: ${trouble.text}. Add a host, or allow other GPU types or data centers; placement lists the missing capacity of each host.`
    return { reason: 'NO_CAPACITY', cause: trouble.text, detail }
  }
  if (trouble?.kind === 'failure') {
    const detail = `The last worker failed: ${trouble.text}. The next start follows after a growing pause; a new release of the endpoint starts at once.`
    return { reason: 'WORKERS_UNHEALTHY', cause: trouble.text, detail }
  }
  if (facts.lowPriority && ahead.normal > 0) return lowBehind(ahead.normal)
  if (!hasReady) return starting(trouble)
  if (before > 0) return { reason: 'BEHIND_OTHERS', cause: busyCause(workers), detail: behindDetail(before, max) }
  const detail = `The job is next, but every worker is busy. It starts when a worker is free or another is added (workers.max is ${max}).`
  return { reason: 'WORKERS_BUSY', cause: 'all workers are busy', detail }
}

function starting(trouble: Trouble | null): Explanation {
  const before = trouble ? `, because the previous one ended: ${trouble.text}` : ''
  return { reason: 'WORKER_STARTING', cause: `a worker is starting${before}`, detail: `A worker is being started for the queue${before}.` }
}

function plain(reason: WaitReason, detail: string): Explanation {
  return { reason, cause: null, detail }
}

function lowAlone(): Explanation {
  const cause = 'low priority jobs start no worker'
  const detail =
    'Low priority jobs start no worker, and no worker is running. The job runs when other jobs start a worker, or with workers.min above 0.'
  return { reason: 'LOW_PRIORITY', cause, detail }
}

function lowBehind(normal: number): Explanation {
  const detail = `Low priority jobs run when no other job waits; ${normal} other ${normal === 1 ? 'job does' : 'jobs do'}.`
  return { reason: 'LOW_PRIORITY', cause: 'other jobs run before low priority jobs', detail }
}

// An idle worker beside a waiting job is about to take one of the jobs ahead of it.
function busyCause(workers: WorkerCounts): string | null {
  return workers.idle > 0 ? null : 'all workers are busy'
}

function behindDetail(before: number, max: number): string {
  return `${before} ${before === 1 ? 'job is' : 'jobs are'} taken before this one. More workers shorten the wait (workers.max is ${max}).`
}

const STATUS_TEXTS: Record<WorkerStatus, string> = {
  INITIALIZING: 'it is being placed, or its container is starting',
  IDLE: 'asks for work',
  RUNNING: 'has work',
  THROTTLED: 'no host has capacity for it',
  UNHEALTHY: 'it failed',
}

/** The reason of a worker's state, or else a text for its status. */
export function workerReason({ worker, status }: ActiveWorker): string {
  return worker.reason ?? STATUS_TEXTS[status]
}
