import { randomBytes } from 'node:crypto'
import { DELIVERY_HEADER, formatDelivery } from '../../host-protocol/delivery.ts'
import { sleep } from '../../node/backoff.ts'
import { Lane, type LaneContext } from './lane.ts'
import { kindOf, type LaneEntry } from './lane-entry.ts'
import type { HeldBody } from './memory.ts'
import type { PostOutcome } from './offer-post.ts'
import { Pacer } from './pacer.ts'
import { PostSpool, type StoredPost } from './post-spool.ts'
import { parseRelayRoute, type RelayRoute } from './routes.ts'

const SESSION_BYTES = 12
/** Maximum wait of a worker's end for its posts: bounded, because the plane may be unable to take them. */
const BEHIND_POSTS_MS = 3_000

/**
 * Key of a lane; `job` is empty for posts about the worker itself. It includes the worker's key, because only the plane can verify that:
 * posts of one container under another's name must not block that one's lane.
 */
interface LaneOf extends Pick<RelayRoute, 'endpoint' | 'worker' | 'job'> {
  key: string
}

interface OwnLane {
  of: LaneOf
  lane: Lane
}

export interface PostQueueOptions extends Omit<LaneContext, 'spool' | 'pacer' | 'closing'> {
  spoolDir: string
  /** Returns the number of workloads. */
  countCallers(): number
}

/** All posts of workers through a relay, until the plane has them (HOST-20…HOST-24). */
export class PostQueue {
  private readonly context: LaneContext
  /** By the workload that they belong to, so that the cost for one does not depend on the number of posts of others. */
  private readonly lanes = new Map<string, Map<string, OwnLane>>()
  private readonly session = randomBytes(SESSION_BYTES).toString('base64url')
  private readonly closing = new AbortController()
  private lastNumber: number

  /** Starts the delivery of the posts that a previous agent process left in `spoolDir`. */
  constructor({ spoolDir, countCallers, ...context }: PostQueueOptions) {
    const spool = new PostSpool(spoolDir, context.bounds, context.log, countCallers)
    this.context = { ...context, spool, pacer: new Pacer(context.bounds), closing: this.closing.signal }
    const left = spool.takeOver()
    this.lastNumber = left.at(-1)?.number ?? 0
    if (left.length > 0) context.log.info('delivers the posts that the previous agent process stored', { posts: left.length })
    for (const post of left) this.resume(post)
  }

  /** Queues one post; resolves with the answer for its worker. */
  submit(route: RelayRoute, headers: Record<string, string>, { body, caller, release }: HeldBody): Promise<PostOutcome> {
    this.lastNumber += 1
    const number = this.lastNumber
    const delivery = formatDelivery({ session: this.session, number })
    const { promise, resolve } = Promise.withResolvers<PostOutcome>()
    this.add(laneOf(route, headers), {
      ...newEntry(number, route, caller),
      post: { method: route.method, target: route.target, headers: { ...headers, [DELIVERY_HEADER]: delivery }, body },
      answer: resolve,
      release,
    })
    return promise
  }

  /** Returns the jobs whose results this worker has posted and the plane does not have yet. */
  keptJobs(route: RelayRoute, headers: Record<string, string>): string[] {
    const asked = laneOf(route, headers)
    return this.lanesOf(route.worker).flatMap(({ of, lane }) => (isSameWorker(of, asked) && lane.keepsResult() ? [of.job] : []))
  }

  /** Records an answer of the plane: waiting posts may be retried. */
  planeAnswered(): void {
    this.context.pacer.answered()
  }

  /** Waits until the plane has all posts of these workers, at most `BEHIND_POSTS_MS` (HOST-25). */
  delivered(workerIds: ReadonlySet<string>): Promise<void> | undefined {
    return this.endOf([...workerIds].flatMap((id) => this.lanesOf(id)))
  }

  /** Aborts all deliveries and stores the undelivered posts on disk. */
  async close(): Promise<void> {
    this.closing.abort()
    this.context.pacer.close()
    const lanes = [...this.lanes.values()].flatMap((own) => [...own.values()])
    await Promise.all(lanes.map(({ lane }) => lane.ended))
  }

  private lanesOf(worker: string): OwnLane[] {
    return [...(this.lanes.get(worker)?.values() ?? [])]
  }

  private endOf(lanes: readonly OwnLane[]): Promise<void> | undefined {
    if (lanes.length === 0) return undefined
    this.context.pacer.tryNow()
    const enough = new AbortController()
    const ended = Promise.all(lanes.map(({ lane }) => lane.ended)).then(() => enough.abort())
    return Promise.race([ended, sleep(BEHIND_POSTS_MS, AbortSignal.any([enough.signal, this.closing.signal]))])
  }

  private resume({ number, keptAtMs, method, target, headers }: StoredPost): void {
    const route = parseRelayRoute(method, target)
    // The agent writes no such file.
    if (route === undefined) this.context.spool.remove(number)
    else this.add(laneOf(route, headers), { ...newEntry(number, route, route.worker), keptAtMs, kind: kindOf(route.verb, Buffer.alloc(0)) })
  }

  private add(of: LaneOf, entry: LaneEntry): void {
    const name = JSON.stringify(of)
    const own = this.lanes.get(of.worker) ?? new Map<string, OwnLane>()
    this.lanes.set(of.worker, own)
    const known = own.get(name)
    if (known) {
      known.lane.add(entry)
      return
    }

    // A worker that reports itself unhealthy loses its jobs, so that report is sent after their results.
    const results = () => this.lanesOf(of.worker).filter((other) => isSameWorker(other.of, of) && other.of.job !== '')
    const turn = () => (of.job === '' ? this.endOf(results()) : undefined)
    const onEmpty = () => {
      own.delete(name)
      if (own.size === 0) this.lanes.delete(of.worker)
    }
    own.set(name, { of, lane: new Lane(this.context, entry, onEmpty, turn) })
  }
}

function laneOf({ endpoint, worker, job }: RelayRoute, headers: Record<string, string>): LaneOf {
  return { endpoint, worker, job, key: headers.authorization ?? '' }
}

function isSameWorker(a: LaneOf, b: LaneOf): boolean {
  return a.endpoint === b.endpoint && a.worker === b.worker && a.key === b.key
}

function newEntry(number: number, { verb, target }: RelayRoute, caller: string): LaneEntry {
  return {
    number,
    verb,
    caller,
    path: target.replace(/[?&].*/, ''),
    post: undefined,
    kind: undefined,
    keptAtMs: undefined,
    keeping: undefined,
    inFlight: false,
    gone: false,
    timer: undefined,
    answer: () => {},
    release: () => {},
  }
}
