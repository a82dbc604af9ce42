import type { Holder } from '../../src/domain/job/job.ts'
import type { EndpointNode, TakeAnswer } from './endpoint-node.ts'
import type { World } from './world.ts'

const POST_MS = 10_000
const TAKE_MS = 40_000
/** A relay that is down refuses a connection at once. */
const REFUSED_MS = 1_000

interface SpooledPost {
  number: number
  endpoint: string
  holder: Holder
  job: string
  body: string
  attempt: number
}

/** The agent's relay: workers reach the plane through it. Its spool of posts survives the agent. */
export class Relay {
  readonly endpoints = new Map<string, EndpointNode>()
  private readonly world: World
  private readonly party: string
  private readonly isUp: () => boolean
  private readonly session: string
  private readonly spool: SpooledPost[] = []
  private posts = 0

  constructor(world: World, party: string, isUp: () => boolean) {
    this.world = world
    this.party = party
    this.isUp = isUp
    this.session = `session-${party.replace(' ', '-')}`
  }

  /** `done`: the jobs, or null when the worker cannot know whether some were meant for it. */
  take(endpoint: string, holder: Holder, isIdle: boolean, isAgain: boolean, done: (answer: { jobs: TakeAnswer } | null) => void): void {
    this.forward(endpoint, TAKE_MS, (node, answer) => node.take(holder, isIdle, isAgain, (jobs) => answer({ jobs })), done)
  }

  ping(endpoint: string, holder: Holder, listed: readonly string[]): void {
    this.forward(endpoint, POST_MS, (node) => node.ping(holder, listed), ignore)
  }

  stops(endpoint: string, holder: Holder, done: (jobIds: string[] | null) => void): void {
    this.forward<string[]>(endpoint, POST_MS, (node, answer) => node.stops(holder, answer), done)
  }

  /** Stores a post before its worker is answered; it is repeated until the plane has taken it. */
  post(endpoint: string, holder: Holder, job: string, body: string): boolean {
    if (!this.isUp()) return false
    const post = { number: ++this.posts, endpoint, holder, job, body, attempt: 0 }
    this.spool.push(post)
    this.send(post)
    return true
  }

  /** After a start of the agent: all stored posts are sent again. */
  resume(): void {
    if (this.spool.length > 0) this.world.checks.note('a relay resumes with stored posts')
    for (const post of this.spool) this.send(post)
  }

  restless(): string[] {
    return this.spool.map(({ job }) => `${this.party} has a post of ${job}`)
  }

  private send(post: SpooledPost): void {
    const { endpoint, holder, job, body } = post
    const delivery = { session: this.session, number: post.number }
    this.forward<true>(
      endpoint,
      POST_MS,
      (node, answer) => node.post(holder, job, body, delivery, answer),
      (isTaken) => {
        if (!this.spool.includes(post)) return
        if (isTaken !== null) {
          this.spool.splice(this.spool.indexOf(post), 1)
          return
        }
        post.attempt++
        this.world.checks.note('a post is repeated')
        const pauseMs = Math.min(30_000, 500 * 2 ** post.attempt)
        this.world.after(this.world.random.between(pauseMs / 2, pauseMs), () => {
          if (this.isUp() && this.spool.includes(post)) this.send(post)
        })
      },
    )
  }

  private forward<T>(
    endpoint: string,
    timeoutMs: number,
    handle: (node: EndpointNode, answer: (value: T) => void) => void,
    done: (value: T | null) => void,
  ): void {
    const node = this.endpoints.get(endpoint)
    if (!this.isUp() || !node) {
      this.world.after(REFUSED_MS, () => done(null))
      return
    }
    this.world.network.call<T>(this.party, timeoutMs, (answer) => handle(node, answer), done)
  }
}

function ignore(): void {}
