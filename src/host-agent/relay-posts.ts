import { randomBytes } from 'node:crypto'
import { DELIVERY_HEADER, formatDelivery } from '../host-protocol/delivery.ts'
import { sleep } from './backoff.ts'
import { type KeptPost, PostSpool } from './post-spool.ts'
import { kindOf, type LaneEntry } from './relay-entry.ts'
import { Lane, type LaneContext } from './relay-lane.ts'
import type { HeldBody } from './relay-memory.ts'
import { Pacer } from './relay-pacer.ts'
import type { PostOutcome } from './relay-post.ts'
import { parseRelayRoute, type RelayRoute } from './relay-routes.ts'

const SESSION_BYTES = 12

/** Which lane a post belongs to; the job is empty for what a worker says about itself. */
type LaneOf = Pick<RelayRoute, 'endpoint' | 'worker' | 'job'>

/** Everything that workers post through a relay, until the plane has it (HOST-20…HOST-24). */
export class PostQueue {
  private readonly context: LaneContext
  private readonly lanes = new Map<string, { of: LaneOf; lane: Lane }>()
  private readonly session = randomBytes(SESSION_BYTES).toString('base64url')
  private readonly closing = new AbortController()
  private lastNumber: number

  /** Begins with the delivery of what a former agent process left in `spoolDir`. */
  constructor({ spoolDir, ...context }: Omit<LaneContext, 'spool' | 'pacer' | 'closing'> & { spoolDir: string }) {
    const spool = new PostSpool(spoolDir, context.bounds, context.log)
    this.context = { ...context, spool, pacer: new Pacer(context.bounds), closing: this.closing.signal }
    const left = spool.takeOver()
    this.lastNumber = left.at(-1)?.number ?? 0
    if (left.length > 0) context.log.info('delivers what a former agent process kept', { posts: left.length })
    for (const post of left) this.resume(post)
  }

  /** Takes over one post; the answer is what its worker is to be told. */
  submit(route: RelayRoute, headers: Record<string, string>, { body, release }: HeldBody): Promise<PostOutcome> {
    this.lastNumber += 1
    const number = this.lastNumber
    const delivery = formatDelivery({ session: this.session, number })
    const { promise, resolve } = Promise.withResolvers<PostOutcome>()
    this.add(route, {
      ...newEntry(number, route),
      post: { method: route.method, target: route.target, headers: { ...headers, [DELIVERY_HEADER]: delivery }, body },
      settle: resolve,
      release,
    })
    return promise
  }

  /** Jobs whose results this worker has handed over and the plane has not got yet. */
  keptJobs({ endpoint, worker }: Pick<RelayRoute, 'endpoint' | 'worker'>): string[] {
    const lanes = [...this.lanes.values()].filter(({ of }) => of.endpoint === endpoint && of.worker === worker)
    return lanes.flatMap(({ of, lane }) => (lane.keepsResult() ? [of.job] : []))
  }

  /** The plane has answered something, so it is worth trying what waits. */
  planeAnswered(): void {
    this.context.pacer.answered()
  }

  /** Waits until the plane has everything that these workers posted, at most `maxMs`. */
  async settled(workerIds: ReadonlySet<string>, maxMs: number): Promise<void> {
    const lanes = [...this.lanes.values()].filter(({ of }) => workerIds.has(of.worker))
    if (lanes.length === 0) return
    this.context.pacer.tryNow()
    const enough = new AbortController()
    await Promise.race([Promise.all(lanes.map(({ lane }) => lane.ended)), sleep(maxMs, enough.signal)])
    enough.abort()
  }

  /** Ends all deliveries and keeps on disk what was under way. */
  async close(): Promise<void> {
    this.closing.abort()
    this.context.pacer.close()
    await Promise.all([...this.lanes.values()].map(({ lane }) => lane.ended))
  }

  private resume({ number, keptAtMs, method, target }: KeptPost): void {
    const route = parseRelayRoute(method, target)
    // No agent writes such a file.
    if (route === undefined) this.context.spool.remove(number)
    else this.add(route, { ...newEntry(number, route), keptAtMs, kind: kindOf(route.verb, Buffer.alloc(0)) })
  }

  private add(route: RelayRoute, entry: LaneEntry): void {
    const key = `${route.endpoint}/${route.worker}/${route.job}`
    const known = this.lanes.get(key)
    const { endpoint, worker, job } = route
    if (known) known.lane.add(entry)
    else this.lanes.set(key, { of: { endpoint, worker, job }, lane: new Lane(this.context, entry, () => this.lanes.delete(key)) })
  }
}

function newEntry(number: number, { verb, target }: RelayRoute): LaneEntry {
  return {
    number,
    verb,
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
