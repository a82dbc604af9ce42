import { randomBytes } from 'node:crypto'
import { DELIVERY_HEADER, formatDelivery } from '../../host-protocol/delivery.ts'
import { sleep } from '../../node/backoff.ts'
import { Lane, type LaneContext } from './lane.ts'
import { kindOf, type LaneEntry } from './lane-entry.ts'
import type { HeldBody } from './memory.ts'
import type { PostOutcome } from './offer-post.ts'
import { Pacer } from './pacer.ts'
import { type KeptPost, PostSpool } from './post-spool.ts'
import { parseRelayRoute, type RelayRoute } from './routes.ts'

const SESSION_BYTES = 12
/** How long the end of a worker waits for what that worker posted: not for ever, because the plane may be unable to take it. */
const BEHIND_POSTS_MS = 3_000

/**
 * Which lane a post belongs to; the job is empty for what a worker says about itself. The key is part of it, because only the plane can tell
 * whether it is the worker's: what one container posts under the name of another must not stand in that one's way.
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
  /** How many workloads there are. */
  countCallers(): number
}

/** Everything that workers post through a relay, until the plane has it (HOST-20…HOST-24). */
export class PostQueue {
  private readonly context: LaneContext
  /** By the workload that they are of: how many others have must not matter to one. */
  private readonly lanes = new Map<string, Map<string, OwnLane>>()
  private readonly session = randomBytes(SESSION_BYTES).toString('base64url')
  private readonly closing = new AbortController()
  private lastNumber: number

  /** Begins with the delivery of what a former agent process left in `spoolDir`. */
  constructor({ spoolDir, countCallers, ...context }: PostQueueOptions) {
    const spool = new PostSpool(spoolDir, context.bounds, context.log, countCallers)
    this.context = { ...context, spool, pacer: new Pacer(context.bounds), closing: this.closing.signal }
    const left = spool.takeOver()
    this.lastNumber = left.at(-1)?.number ?? 0
    if (left.length > 0) context.log.info('delivers what a former agent process kept', { posts: left.length })
    for (const post of left) this.resume(post)
  }

  /** Takes over one post; the answer is what its worker is to be told. */
  submit(route: RelayRoute, headers: Record<string, string>, { body, caller, release }: HeldBody): Promise<PostOutcome> {
    this.lastNumber += 1
    const number = this.lastNumber
    const delivery = formatDelivery({ session: this.session, number })
    const { promise, resolve } = Promise.withResolvers<PostOutcome>()
    this.add(laneOf(route, headers), {
      ...newEntry(number, route, caller),
      post: { method: route.method, target: route.target, headers: { ...headers, [DELIVERY_HEADER]: delivery }, body },
      settle: resolve,
      release,
    })
    return promise
  }

  /** Jobs whose results this worker has handed over and the plane has not got yet. */
  keptJobs(route: RelayRoute, headers: Record<string, string>): string[] {
    const asked = laneOf(route, headers)
    return this.lanesOf(route.worker).flatMap(({ of, lane }) => (isSameWorker(of, asked) && lane.keepsResult() ? [of.job] : []))
  }

  /** The plane has answered something, so it is worth trying what waits. */
  planeAnswered(): void {
    this.context.pacer.answered()
  }

  /** Waits for a moment until the plane has everything that these workers posted (HOST-25). */
  settled(workerIds: ReadonlySet<string>): Promise<void> | undefined {
    return this.endOf([...workerIds].flatMap((id) => this.lanesOf(id)))
  }

  /** Ends all deliveries and keeps on disk what was under way. */
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

  private resume({ number, keptAtMs, method, target, headers }: KeptPost): void {
    const route = parseRelayRoute(method, target)
    // No agent writes such a file.
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

    // A worker that calls itself unhealthy loses its jobs, so the plane hears of it behind their results.
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
    settle: () => {},
    release: () => {},
  }
}
