import type { Trouble } from '../job/explain.ts'
import { counted } from '../text/counted.ts'
import type { DecisionRecord } from '../worker/scaling-record.ts'
import type { WorkerCounts } from '../worker/worker.ts'
import { type Fact, fact, type Verdict } from './evidence.ts'

/** Explains the number of an endpoint's workers (WHY-10). Pure. */

/** Facts from the endpoint's queue. */
export interface QueueFacts {
  counts: WorkerCounts
  /** Queued jobs, or waiting requests of a load-balancing endpoint. */
  queued: { normal: number; low: number }
  trouble: Trouble | null
  /** The last scaling decision; null before the first one. */
  decision: DecisionRecord | null
  /** Next search of a worker without a host, milliseconds since the epoch. */
  retryAtMs: number | null
}

/** The facts that explain why an endpoint has the workers that it has. */
export interface EndpointFacts extends QueueFacts {
  workers: { min: number; max: number }
  /** Why the account's limits refuse a worker; null: they allow it, or were not checked. */
  means: { code: 'SPEND_LIMIT' | 'QUOTA'; text: string } | null
  nowMs: number
}

type Cause = Pick<Verdict, 'code' | 'verdict'>

/** Verdict by the first cause that applies. */
export function explainEndpoint(facts: EndpointFacts): Verdict {
  const { decision, nowMs } = facts
  const waitedMs = decision?.inputs.longestWaitMs ?? null
  const sinceMs = decision && waitedMs !== null && isWaiting(facts) ? decision.atMs - waitedMs : (decision?.atMs ?? null)
  return { ...causeOf(facts), sinceMs: sinceMs === null ? null : Math.min(nowMs, sinceMs), facts: factsOf(facts) }
}

/** Whether a job or request is waiting for a worker. */
function isWaiting({ queued }: QueueFacts): boolean {
  return queued.normal + queued.low > 0
}

function causeOf(facts: EndpointFacts): Cause {
  const { trouble, counts, workers } = facts
  if (workers.max === 0) {
    return { code: 'SCALED_TO_ZERO_BY_CONFIG', verdict: 'The endpoint starts no worker, because its workers.max is 0.' }
  }
  if (trouble?.kind === 'capacity') return withoutRoom(facts, trouble.text)
  if (trouble?.kind === 'failure') {
    const verdict = `Workers start and fail; capacity is not the problem: ${trouble.text}. The pause before each new start grows.`
    return { code: 'WORKERS_UNHEALTHY', verdict }
  }
  if (!isWaiting(facts)) return withoutQueue(counts)
  return queuedBehind(facts)
}

function withoutRoom({ means }: EndpointFacts, text: string): Cause {
  if (means) return { code: means.code, verdict: `A worker is needed, but a limit of the account does not allow it: ${means.text}.` }
  return { code: 'NO_CAPACITY', verdict: `A worker is needed, but no host has capacity for it: ${text}.` }
}

function withoutQueue(counts: WorkerCounts): Cause {
  if (counts.running > 0) return { code: 'RUNNING', verdict: `${counted(counts.running, 'worker')} busy, and no job waits.` }
  if (counts.initializing > 0) return { code: 'WORKER_STARTING', verdict: 'A worker is starting, and no job waits.' }
  const idle = counts.idle > 0 ? `${counted(counts.idle, 'worker')} idle` : 'the endpoint has no worker'
  return { code: 'IDLE', verdict: `No job waits, and ${idle}.` }
}

function queuedBehind({ counts, queued, workers, decision }: EndpointFacts): Cause {
  const waiting = counted(queued.normal + queued.low, 'job')
  if (counts.idle > 0) return { code: 'NEXT', verdict: `${waiting} waiting; an idle worker takes the first one with its next poll.` }
  if (queued.normal === 0 && counts.ready + counts.running + counts.initializing === 0) {
    return { code: 'LOW_PRIORITY', verdict: 'Only low priority jobs wait, and these start no worker.' }
  }
  if (counts.initializing > 0) return { code: 'WORKER_STARTING', verdict: `${waiting} waiting, and a worker is starting.` }
  if (counts.running === 0) return { code: 'WORKER_STARTING', verdict: `${waiting} waiting, and a worker will be started soon.` }
  if ((decision?.current ?? counts.running) >= workers.max) {
    return { code: 'AT_WORKERS_MAX', verdict: `${waiting} waiting, every worker is busy, and workers.max is ${workers.max}.` }
  }
  const verdict = `${waiting} waiting, and every worker is busy; the scaler adds a worker when its scaling policy requires one.`
  return { code: 'SCALING_DELAY', verdict }
}

function factsOf({ counts, queued, decision, retryAtMs }: EndpointFacts): Fact[] {
  const low = queued.low > 0 ? `, ${queued.low} of low priority` : ''
  const total = queued.normal + queued.low
  return [
    fact('QUEUE', `${total} waiting${low}`, { count: total }),
    ...workerFacts(counts),
    ...(decision ? [scalerFact(decision)] : []),
    ...(retryAtMs === null ? [] : [fact('RETRY', 'retries placement', { atMs: retryAtMs })]),
    ...backoffFact(decision),
  ]
}

/** Number of workers by state, without empty states. */
export function workerFacts(counts: WorkerCounts): Fact[] {
  const kinds = ['running', 'idle', 'initializing', 'throttled', 'unhealthy'] as const
  return kinds.filter((kind) => counts[kind] > 0).map((kind) => fact('WORKERS', kind, { count: counts[kind] }))
}

/** Fact that describes the last decision of the scaler. */
export function scalerFact({ desired, current, max, reason, atMs }: DecisionRecord): Fact {
  return fact('SCALER', `wants ${desired} of at most ${max}, had ${current}: ${reason}`, { count: desired, total: max, atMs })
}

function backoffFact(decision: DecisionRecord | null): Fact[] {
  if (!decision || decision.inputs.backoffMs === 0) return []
  return [fact('RETRY', 'starts another worker after the backoff', { atMs: decision.atMs + decision.inputs.backoffMs })]
}
