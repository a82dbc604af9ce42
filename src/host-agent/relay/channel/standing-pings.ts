import type { WorkerPing } from './channel-calls.ts'

/**
 * Equal pings of a worker that are sent. The plane needs two in a row to see that a job is missing (LSE-5), and one more, because one may
 * have crossed the answer with a job.
 */
const SETTLED_AFTER = 3
/** Silence of a worker, in ping intervals, after which the agent answers for it no more. */
const QUIET_INTERVALS = 2

/** A worker for which the agent answers. */
type Standing = Pick<WorkerPing, 'worker' | 'boot'>

interface Known extends Standing {
  content: string
  /** Number of equal pings since the last event of the worker. */
  equal: number
  seenAtMs: number
}

/**
 * The pings of the workers of one channel (CHN-30). The agent answers for each of these workers: it sends
 * equal pings only three times, and reports a worker that is quiet. Times are steady.
 */
export class StandingPings {
  private readonly intervalMs: number
  private readonly workers = new Map<string, Known>()

  /** `intervalMs`: the interval of pings. */
  constructor(intervalMs: number) {
    this.intervalMs = intervalMs
  }

  /** A worker has sent a ping. Returns the ping to be sent to the plane; undefined: the plane counts on it. */
  take(ping: WorkerPing, nowMs: number): WorkerPing | undefined {
    const { worker, boot, jobs, sdkVersion } = ping
    const content = JSON.stringify([boot, sdkVersion, jobs.toSorted()])
    const before = this.workers.get(worker)
    const equal = before?.content === content ? before.equal + 1 : 1
    this.workers.set(worker, { worker, boot, content, equal, seenAtMs: nowMs })
    return equal > SETTLED_AFTER ? undefined : { ...ping, stands: true }
  }

  /** The worker got a job, posted something, or the plane asks for its pings: the next ones are sent. */
  stir(worker: string): void {
    const known = this.workers.get(worker)
    if (known) this.workers.set(worker, { ...known, equal: 0 })
  }

  /** Workers for which the agent answers. */
  standing(): Standing[] {
    return [...this.workers.values()].map(({ worker, boot }) => ({ worker, boot }))
  }

  /** Workers that have gone quiet since the last call, with the time since their last ping. */
  takeQuiet(nowMs: number): (Standing & { silentMs: number })[] {
    const quiet = [...this.workers.values()].filter(({ seenAtMs }) => nowMs - seenAtMs > QUIET_INTERVALS * this.intervalMs)
    for (const { worker } of quiet) this.workers.delete(worker)
    return quiet.map(({ worker, boot, seenAtMs }) => ({ worker, boot, silentMs: Math.round(nowMs - seenAtMs) }))
  }
}
