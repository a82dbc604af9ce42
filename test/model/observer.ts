import type { Boot } from './facts.ts'
import { Chronicle, type OpenTake } from './oracle.ts'
import type { BootView, QueueUnderTest, Reply } from './queue-under-test.ts'

/** WRK-44 and TMO-7: when a worker that only pings, and one that does not stop a job, may be given up. Milliseconds. */
const WEDGED_MS = 120_000
const STOP_GRACE_MS = 30_000

/** Feeds the facts of a queue to the oracle and compares everything that a client or a worker sees with the rules. */
export class Observer {
  readonly queue: QueueUnderTest
  readonly oracle = new Chronicle()
  readonly jobs: string[] = []
  readonly boots: Boot[] = []
  /** Boots that get no more work according to the queue. */
  readonly draining = new Set<Boot>()
  /** Boots whose container ended or that were given up. */
  readonly over = new Set<Boot>()
  readonly askedToStop = new Set<Boot>()
  readonly lastTakeAt = new Map<Boot, number>()
  readonly given = new Map<Boot, string[]>()
  open: OpenTake[] = []
  private readonly trail: string[] = []

  constructor(queue: QueueUnderTest) {
    this.queue = queue
  }

  /** After every operation and every deadline, exactly the boots that the rules name get work. */
  async settle(): Promise<void> {
    // Ends first, then drains that need no other boot as a reason: whether a boot may be preempted depends on the boots that are left.
    const views = await this.queue.boots()
    for (const view of views) this.observeEnd(view)
    const [sure, others] = [views.filter(({ boot }) => this.drainsByItself(boot)), views.filter(({ boot }) => !this.drainsByItself(boot))]
    for (const view of [...sure, ...others]) this.observeDrain(view)
    const expected = new Map<Boot, string[]>()
    for (const { boot, job } of this.oracle.takes(this.open, this.now())) {
      expected.set(boot, [...(expected.get(boot) ?? []), job])
      this.oracle.note(this.now(), { kind: 'taken', job, boot })
      this.given.set(boot, [...(this.given.get(boot) ?? []), job])
    }
    for (const { boot } of this.open) if (!this.oracle.mayTake(boot, this.now()) && !expected.has(boot)) expected.set(boot, [])
    const actual = new Map((await this.queue.deliveries()).map(({ boot, jobs }) => [boot, jobs]))
    this.same('answers to takes', this.nameAnswers(actual), this.nameAnswers(expected))
    this.open = this.open.filter(({ boot }) => !expected.has(boot))
    await this.checkAlarm()
  }

  private async checkAlarm(): Promise<void> {
    const change = this.oracle.nextWake(this.now())
    if (change === null) return
    const alarm = await this.queue.alarmAtMs()
    if (alarm === null || alarm > change) this.fail(`the next deadline is in ${change - this.now()} ms, the alarm is ${alarm}`)
  }

  /** The queue decides which boots exist, but it must have a reason to give one up. */
  private observeEnd({ boot, phase, reason }: BootView): void {
    if (!this.boots.includes(boot) || this.over.has(boot) || (phase !== 'failed' && phase !== 'removed')) return
    const silent = this.now() >= this.oracle.silentAt(boot)
    const killed = this.disobeys(boot)
    if (!silent && !killed && !this.draining.has(boot) && !this.isWedged(boot)) this.fail(`${this.name(boot)} was given up: ${reason}`)
    this.say(`  ${this.name(boot)} is over: ${reason}`)
    this.over.add(boot)
    if (!silent) this.oracle.note(this.now(), { kind: 'ended', boot, by: killed ? 'the platform' : 'itself' })
  }

  /** The same for a boot that finishes its jobs and gets no more. */
  private observeDrain({ boot, phase, reason }: BootView): void {
    if (!this.boots.includes(boot) || this.over.has(boot)) return
    if (phase === 'accepting' && !this.oracle.mayTake(boot, this.now())) this.fail(`${this.name(boot)} must not get any more work`)
    if (phase !== 'draining' || this.draining.has(boot)) return
    if (!this.drainsByItself(boot) && !this.mayMakeRoom()) this.fail(`${this.name(boot)} was drained: ${reason}`)
    this.say(`  ${this.name(boot)} is draining: ${reason}`)
    this.draining.add(boot)
    this.oracle.note(this.now(), { kind: 'drained', boot })
  }

  /** LSE-33, WRK-16: the boot lost a job or asked to be stopped; or it is idle, and a scaler may stop it. */
  private drainsByItself(boot: Boot): boolean {
    if (!this.oracle.mayTake(boot, this.now()) || this.askedToStop.has(boot)) return true
    return this.queue.scales && this.held(boot).length === 0
  }

  /** LSE-32: a queued job was held before by every boot that could take it. */
  private mayMakeRoom(): boolean {
    const accepting = this.accepting()
    return this.oracle.queue(this.now()).some((job) => accepting.every((other) => this.oracle.hasHeld(other, job)))
  }

  /** WRK-26: its newest ping still lists a job that it had to stop long ago. */
  private disobeys(boot: Boot): boolean {
    const ping = this.oracle.by(boot).findLast((fact) => fact.kind === 'pinged')
    if (ping?.kind !== 'pinged' || ping.at !== this.now()) return false
    return ping.listed.some((job) => this.oracle.hasHeld(boot, job) && !this.oracle.heldBy(boot, ping.at - STOP_GRACE_MS).includes(job))
  }

  /** WRK-44: it pings, holds nothing and has not asked for work. */
  private isWedged(boot: Boot): boolean {
    return this.now() - (this.lastTakeAt.get(boot) ?? 0) >= WEDGED_MS && this.held(boot).length === 0
  }

  async checkRecords(): Promise<void> {
    for (const job of this.jobs) this.compareRecord(job, await this.queue.record(job))
    this.same('counters', await this.queue.counts(), this.oracle.counts(this.now()))
  }

  compareRecord(job: string, reply: Reply): void {
    const expected = this.oracle.sighting(job, this.now())
    this.same(`the status code of ${this.name(job)}`, reply.status, expected ? 200 : 404)
    if (!expected) return
    const { id, queue, errorDetail, ...body } = reply.body
    const extra = Object.entries(body).filter(([key]) => !(key in expected.must))
    for (const [key, value] of extra) this.same(`${key} of ${this.name(job)}`, value, expected.may[key])
    this.same(
      `the record of ${this.name(job)}`,
      Object.fromEntries(Object.entries(body).filter(([key]) => key in expected.must)),
      expected.must,
    )
    this.same('its id', id, job)
    if (String(body.error).startsWith('job timed out') && !errorDetail) this.fail(`${this.name(job)} hides the cause (JOB-10)`)
    if (queue !== undefined && body.status !== 'IN_QUEUE') this.fail(`${this.name(job)} is not queued but says why it waits`)
  }

  now(): number {
    return this.queue.now()
  }

  held(boot: Boot): string[] {
    return this.oracle.heldBy(boot, this.now())
  }

  /** Boots whose container runs. */
  present(): Boot[] {
    return this.boots.filter((boot) => !this.over.has(boot))
  }

  accepting(): Boot[] {
    return this.present().filter((boot) => !this.draining.has(boot))
  }

  name(id: string): string {
    return this.jobs.includes(id) ? `#${this.jobs.indexOf(id)}` : `boot ${this.boots.indexOf(id)}`
  }

  private nameAnswers(answers: ReadonlyMap<Boot, readonly string[]>): string[] {
    return [...answers].map(([boot, jobs]) => `${this.name(boot)}: ${jobs.map((job) => this.name(job)).join(' ') || 'nothing'}`).sort()
  }

  say(line: string): void {
    this.trail.push(`${this.now()} ${line}`)
  }

  same(what: string, actual: unknown, expected: unknown): void {
    if (canonical(actual) !== canonical(expected)) this.fail(`${what}: got ${canonical(actual)}, the rules say ${canonical(expected)}`)
  }

  fail(problem: string): never {
    throw new Error([problem, 'after:', ...this.trail].join('\n'))
  }
}

/** JSON with the keys of objects in order. */
function canonical(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'undefined'
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  const entries = Object.entries(value).filter(([, part]) => part !== undefined)
  return `{${entries
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, part]) => `${key}:${canonical(part)}`)
    .join(',')}}`
}
