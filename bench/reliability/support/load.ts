import { setTimeout as sleep } from 'node:timers/promises'
import { type Lab, within } from './lab.ts'
import { type Answer, call, type Demo } from './plane.ts'

const REFUSED_PAUSE_MS = 50
const KEYED_EVERY = 3
const READERS = 16
/** A result is retained for 30 min, and no job of a load ends before it was acknowledged. */
const KEPT_MS = 29 * 60_000

export interface LoadOptions {
  clients: number
  /** Pause between two calls of one client, milliseconds. */
  pauseMs?: number
  /** Duration of each job, milliseconds. */
  sleepMs?: number
  webhook?: string
  /** Whether every third call has an Idempotency-Key; it is repeated until it is acknowledged, and once more at the end. */
  keyed?: boolean
  /** Every how many calls have a key, instead of every third. */
  keyedEvery?: number
  /** Number of the first job; two loads with one receiver need different numbers. */
  firstNumber?: number
  timeoutMs?: number
}

/** The outcome of the acknowledged jobs. */
export interface Outcome {
  acknowledged: number
  lost: number
  duplicated: number
  /** Jobs that did not end in time. */
  stuck: number
  /** Jobs that ended with the output of another job. */
  wrong: number
  failed: number
  /** Errors of FAILED jobs, each with its count. */
  errors: Map<string, number>
  /** Time from the end of the load until the last job has ended, milliseconds. */
  drainMs: number
}

/** Clients that submit jobs and record the acknowledged ones. */
export class Load {
  readonly acknowledged = new Map<string, number>()
  private readonly acknowledgedAt = new Map<string, number>()
  /** Count of each status; 0: no answer. */
  readonly answers = new Map<number, number>()
  /** Jobs that got two ids for one Idempotency-Key. */
  duplicated = 0
  /** Longest time without an acknowledgement, milliseconds. */
  longestGapMs = 0
  private readonly keys = new Map<string, { number: number; id: string }>()
  private readonly target: Demo
  private readonly endpointId: string
  private readonly options: LoadOptions
  private readonly name = Math.random().toString(36).slice(2)
  private lastAckAt = performance.now()
  private next = 0
  private closed = false
  private loops: Promise<void>[] = []

  constructor(lab: Lab, target: Demo, endpointId: string, options: LoadOptions) {
    lab.defer(() => this.stop())
    this.target = target
    this.endpointId = endpointId
    this.options = options
    this.next = options.firstNumber ?? 0
  }

  start(): this {
    this.lastAckAt = performance.now()
    this.longestGapMs = 0
    this.loops = Array.from({ length: this.options.clients }, () => this.submitAll())
    return this
  }

  async stop(): Promise<void> {
    this.closed = true
    await Promise.all(this.loops)
    this.noteGap()
  }

  /** Ids of acknowledged jobs whose results must still be retained. */
  keptIds(): string[] {
    const sinceMs = performance.now() - KEPT_MS
    return [...this.acknowledgedAt].flatMap(([id, atMs]) => (atMs > sinceMs ? [id] : []))
  }

  /** Returns the longest gap, up to the present moment, and resets it. */
  takeGap(): number {
    this.noteGap()
    const gap = this.longestGapMs
    this.longestGapMs = 0
    this.lastAckAt = performance.now()
    return gap
  }

  answersText(): string {
    return [...this.answers].map(([status, count]) => `${status === 0 ? 'no answer' : status} × ${count}`).join(', ')
  }

  /** Submits one job. */
  async submit(number: number, key?: string): Promise<Answer> {
    const { sleepMs, webhook, timeoutMs } = this.options
    const body = { input: { number, ...(sleepMs === undefined ? {} : { sleepMs }) }, ...(webhook === undefined ? {} : { webhook }) }
    const headers = key === undefined ? {} : { 'idempotency-key': key }
    const answer = await call(this.target.url, this.target.apiKey, 'POST', `/v2/${this.endpointId}/run`, body, {
      headers,
      timeoutMs: timeoutMs ?? 10_000,
    })
    this.answers.set(answer.status, (this.answers.get(answer.status) ?? 0) + 1)
    const { id } = answer.body
    if (answer.status === 200 && typeof id === 'string') this.noteAck(id, number, key)
    return answer
  }

  /** Repeats every key, and waits until all acknowledged jobs have ended. */
  async waitForEnds(limitMs: number): Promise<Outcome> {
    const startedAt = performance.now()
    for (const [key, { number }] of this.keys) await this.submit(number, key)
    const outcome: Outcome = {
      acknowledged: this.acknowledged.size,
      lost: 0,
      duplicated: this.duplicated,
      stuck: 0,
      wrong: 0,
      failed: 0,
      errors: new Map(),
      drainMs: 0,
    }
    const left = [...this.acknowledged].reverse()
    await Promise.all(
      Array.from({ length: READERS }, async () => {
        for (let job = left.pop(); job !== undefined; job = left.pop()) await this.judge(job, outcome, startedAt + limitMs)
      }),
    )
    outcome.drainMs = performance.now() - startedAt
    return outcome
  }

  /** Waits until this many of its jobs run; returns the number of running ones. */
  async running(count: number, limitMs = 60_000): Promise<number> {
    let seen = 0
    await within(limitMs, async () => {
      const { body } = await call(this.target.url, this.target.apiKey, 'GET', `/v2/${this.endpointId}/health`)
      seen = Number((body.jobs as { inProgress?: number } | undefined)?.inProgress ?? 0)
      return seen >= count
    })
    return seen
  }

  /** Counts the acknowledged jobs that a plane does not know; `errors` counts answers other than 200 and 404. */
  async lookUp(
    target: Demo,
    ids: Iterable<string> = this.acknowledged.keys(),
  ): Promise<{ found: number; lost: number; errors: Map<number, number> }> {
    const seen = { found: 0, lost: 0, errors: new Map<number, number>() }
    const left = [...ids]
    await Promise.all(
      Array.from({ length: READERS }, async () => {
        for (let id = left.pop(); id !== undefined; id = left.pop()) {
          const { status } = await call(target.url, target.apiKey, 'GET', `/v2/${this.endpointId}/status/${id}`, undefined, {
            timeoutMs: 10_000,
          })
          if (status === 200) seen.found += 1
          else if (status === 404) seen.lost += 1
          else seen.errors.set(status, (seen.errors.get(status) ?? 0) + 1)
        }
      }),
    )
    return seen
  }

  private async submitAll(): Promise<void> {
    while (!this.closed) {
      const number = this.next++
      const key = this.options.keyed && number % (this.options.keyedEvery ?? KEYED_EVERY) === 0 ? `${this.name}-${number}` : undefined
      let { status } = await this.submit(number, key)
      while (key !== undefined && status !== 200 && !this.closed) {
        await sleep(REFUSED_PAUSE_MS)
        ;({ status } = await this.submit(number, key))
      }
      if (status !== 200) await sleep(REFUSED_PAUSE_MS)
      else if (this.options.pauseMs !== undefined) await sleep(this.options.pauseMs)
    }
  }

  private noteAck(id: string, number: number, key: string | undefined): void {
    this.noteGap()
    this.lastAckAt = performance.now()
    this.acknowledged.set(id, number)
    this.acknowledgedAt.set(id, this.lastAckAt)
    if (key === undefined) return
    const known = this.keys.get(key)
    if (known !== undefined && known.id !== id) this.duplicated += 1
    this.keys.set(key, { number, id: known?.id ?? id })
  }

  private noteGap(): void {
    this.longestGapMs = Math.max(this.longestGapMs, performance.now() - this.lastAckAt)
  }

  private async judge([id, number]: [string, number], outcome: Outcome, deadline: number): Promise<void> {
    for (;;) {
      const { status, body } = await call(this.target.url, this.target.apiKey, 'GET', `/v2/${this.endpointId}/status/${id}`, undefined, {
        timeoutMs: 10_000,
      })
      if (status === 404) {
        outcome.lost += 1
        return
      }
      if (body.status === 'COMPLETED') {
        if (numberOf(body.output) !== number) outcome.wrong += 1
        return
      }
      if (body.status === 'FAILED' || body.status === 'CANCELLED') {
        outcome.failed += 1
        const error = [body.error, body.errorDetail].filter((text) => typeof text === 'string').join(', ')
        outcome.errors.set(error, (outcome.errors.get(error) ?? 0) + 1)
        return
      }
      if (performance.now() > deadline) {
        outcome.stuck += 1
        return
      }
      await sleep(250)
    }
  }
}

/** Returns the sum of the counts that should be 0, and a note of those that are not. */
export function wrongOf(outcome: Outcome): { count: number; note: string } {
  const parts: string[] = []
  if (outcome.stuck > 0) parts.push(`${outcome.stuck} not at an end`)
  if (outcome.wrong > 0) parts.push(`${outcome.wrong} with the output of another`)
  if (outcome.failed > 0)
    parts.push(`${outcome.failed} FAILED (${[...outcome.errors].map(([error, count]) => `${count} × ${error}`).join('; ')})`)
  return { count: outcome.stuck + outcome.wrong + outcome.failed, note: parts.join(', ') }
}

/** Returns the job's number from the output of echo or probe, which repeat their input. */
export function numberOf(output: unknown): unknown {
  const { input, number } = (output ?? {}) as { input?: { number?: unknown }; number?: unknown }
  return input?.number ?? number
}
