import type { Boot } from './facts.ts'
import { Observer } from './observer.ts'
import type { Operation } from './operations.ts'
import type { PostBody, QueueUnderTest, SubmitOptions } from './queue-under-test.ts'

/** Ping interval of a worker SDK, and pause of this one before it polls again without a job. Milliseconds. */
const PING_EVERY_MS = 10_000
const POLL_AGAIN_MS = 20_000
const LAST_ROUNDS = 90
const LAST_ROUND_MS = 10_000
const BECKON_EVERY_ROUNDS = 10
const ORDINARY_JOB = { low: false, sync: false, ttlMs: 86_400_000, executionMs: 600_000 }

/** Plays one history against a queue; after every operation an observer compares the observations with the rules. */
export class History {
  private readonly queue: QueueUnderTest
  private readonly checkEvery: number
  private readonly observer: Observer
  private posts = 0

  constructor(queue: QueueUnderTest, options: { checkEvery: number }) {
    this.queue = queue
    this.observer = new Observer(queue)
    this.checkEvery = options.checkEvery
  }

  async play(operations: readonly Operation[]): Promise<void> {
    await this.meetBoots()
    for (const [index, operation] of operations.entries()) {
      if (operation.kind === 'nothing') continue
      await this.step(operation)
      await this.observer.settle()
      if (index % this.checkEvery !== 0) continue
      await this.observer.checkRecords()
      // A scaler may run on any read of the queue; its decisions are observed before time moves on.
      if (this.queue.scales) await this.observer.settle()
    }
    await this.finish()
  }

  private step(operation: Exclude<Operation, { kind: 'nothing' }>): Promise<void> {
    switch (operation.kind) {
      case 'submit':
        return this.submit(operation)
      case 'start worker':
        return this.meetBoots()
      case 'take':
        return this.takeOne(operation)
      case 'ping':
        return this.pingOne(operation)
      case 'done':
        return this.answer(operation)
      case 'stray done':
        return this.answerStray(operation)
      case 'progress':
      case 'chunk':
        return this.report(operation)
      case 'crash':
        return this.crash(operation)
      case 'host silent':
      case 'host heard':
        return this.hostChanges(operation)
      case 'cancel':
      case 'retry':
        return this.control(operation)
      case 'purge':
        return this.purge()
      case 'pass':
        return this.pass(operation.ms)
      case 'edge':
        return this.passToEdge(operation.offsetMs)
      case 'live':
        return this.live(operation.ms, operation.paused)
      case 'restart':
        return this.restart()
      default:
        return operation satisfies never
    }
  }

  private async submit(operation: SubmitOptions): Promise<void> {
    const { low, sync, ttlMs, executionMs } = operation
    const job = await this.queue.submit({ low, sync, ttlMs, executionMs })
    this.observer.say(
      `submit #${this.observer.jobs.length}${low ? ' low' : ''}${sync ? ' sync' : ''} ttl ${ttlMs} execution ${executionMs}`,
    )
    this.observer.jobs.push(job)
    this.observer.oracle.note(this.observer.now(), {
      kind: 'submitted',
      job,
      low,
      ttlMs,
      executionMs,
      retentionMs: sync ? 60_000 : 1_800_000,
    })
  }

  /** Adopts the workers that have been started. */
  private async meetBoots(): Promise<void> {
    for (const boot of await this.queue.newBoots()) {
      this.observer.say(`boot ${this.observer.boots.length}`)
      this.observer.boots.push(boot)
    }
    await this.observer.settle()
  }

  private async takeOne({ boot, capacity, forgetful }: Extract<Operation, { kind: 'take' }>): Promise<void> {
    const chosen = pick(forgetful ? this.observer.present() : this.observer.accepting(), boot)
    if (chosen) await this.take(chosen, capacity, forgetful || this.observer.held(chosen).length === 0)
  }

  private async take(boot: Boot, capacity: number, idle: boolean): Promise<void> {
    this.observer.say(`take ${this.observer.name(boot)} up to ${capacity}${idle ? ' idle' : ''}`)
    const now = this.observer.now()
    if (!this.observer.lastTakeAt.has(boot)) this.observer.oracle.note(now, { kind: 'booted', boot })
    if (idle) this.observer.oracle.note(now, { kind: 'polled idle', boot })
    this.observer.lastTakeAt.set(boot, now)
    this.observer.open = this.observer.open.filter((take) => take.boot !== boot)
    if (!this.observer.draining.has(boot)) this.observer.open.push({ boot, capacity })
    await this.queue.take(boot, capacity, idle)
    await this.observer.settle()
  }

  private async pingOne({ boot, listing }: Extract<Operation, { kind: 'ping' }>): Promise<void> {
    const chosen = pick(
      this.observer.present().filter((one) => this.observer.lastTakeAt.has(one)),
      boot,
    )
    if (!chosen) return
    const held = this.observer.held(chosen)
    const lists = { all: held, none: [], half: held.filter((_, i) => i % 2 === 0), stale: this.observer.given.get(chosen) ?? [] }
    await this.ping(chosen, lists[listing])
  }

  private async ping(boot: Boot, listed: readonly string[]): Promise<void> {
    this.observer.say(`ping ${this.observer.name(boot)} lists ${listed.map((job) => this.observer.name(job)).join(' ') || 'nothing'}`)
    this.observer.oracle.note(this.observer.now(), { kind: 'pinged', boot, listed })
    await this.queue.ping(boot, listed)
  }

  private async answer({ boot, job, outcome }: Extract<Operation, { kind: 'done' }>): Promise<void> {
    const chosen = pick(
      this.observer.boots.filter((one) => this.observer.held(one).length > 0),
      boot,
    )
    const held = chosen && pick(this.observer.held(chosen), job)
    if (chosen && held) await this.post(chosen, held, outcome)
  }

  private async answerStray({ boot, job, foreign, error }: Extract<Operation, { kind: 'stray done' }>): Promise<void> {
    const chosen = pick(
      this.observer.boots.filter((one) => this.observer.given.has(one)),
      boot,
    )
    const answered = chosen && pick(foreign ? this.observer.jobs : (this.observer.given.get(chosen) ?? []), job)
    if (chosen && answered) await this.post(chosen, answered, error ? 'error' : 'output')
  }

  private async post(boot: Boot, job: string, outcome: 'output' | 'error' | 'empty' | 'stopPod'): Promise<void> {
    const n = ++this.posts
    const bodies: Record<typeof outcome, PostBody> = {
      output: { output: n },
      error: n % 2 === 0 ? { error: `error ${n}` } : { error: `error ${n}`, output: n },
      empty: {},
      stopPod: { output: n, stopPod: true },
    }
    const body = bodies[outcome]
    this.observer.say(`done ${this.observer.name(boot)} ${this.observer.name(job)} ${JSON.stringify(body)}`)
    const { stopPod, ...result } = body
    this.observer.oracle.note(this.observer.now(), { kind: 'posted', job, boot, ...result })
    if (stopPod) this.observer.askedToStop.add(boot)
    await this.queue.done(boot, job, body)
  }

  private async report({ kind, boot, job, stray }: Extract<Operation, { kind: 'progress' | 'chunk' }>): Promise<void> {
    const known = (one: Boot) => (stray ? (this.observer.given.get(one) ?? []) : this.observer.held(one))
    const chosen = pick(
      this.observer.boots.filter((one) => known(one).length > 0),
      boot,
    )
    const about = chosen && pick(known(chosen), job)
    if (!chosen || !about) return
    this.observer.say(`${kind} ${this.observer.name(chosen)} ${this.observer.name(about)}`)
    if (kind === 'chunk') {
      this.observer.oracle.note(this.observer.now(), { kind: 'streamed', job: about, boot: chosen })
      await this.queue.chunk(chosen, about)
      return
    }
    const output = { step: ++this.posts }
    this.observer.oracle.note(this.observer.now(), { kind: 'progressed', job: about, boot: chosen, output })
    await this.queue.progress(chosen, about, output)
  }

  private async crash({ boot, byHost }: Extract<Operation, { kind: 'crash' }>): Promise<void> {
    const chosen = pick(this.observer.present(), boot)
    if (!chosen) return
    this.observer.say(`crash ${this.observer.name(chosen)}${byHost ? ' with its host' : ''}`)
    this.observer.over.add(chosen)
    this.observer.oracle.note(this.observer.now(), { kind: 'ended', boot: chosen, by: byHost ? 'its host' : 'itself' })
    await this.queue.crash(chosen, byHost)
  }

  /** The silence or return of a machine, for a boot that has asked for work before (HOST-36). */
  private async hostChanges(operation: Extract<Operation, { kind: 'host silent' | 'host heard' }>): Promise<void> {
    const known = this.observer.present().filter((one) => this.observer.lastTakeAt.has(one))
    const boot = pick(known, operation.boot)
    if (!boot) return
    const now = this.observer.now()
    if (operation.kind === 'host heard') {
      this.observer.say(`the host of ${this.observer.name(boot)} is heard of`)
      this.observer.oracle.note(now, { kind: 'host heard', boot })
      await this.queue.hostHeard(boot)
      return
    }
    const since = now - operation.agoMs
    this.observer.say(`the host of ${this.observer.name(boot)} is silent for ${operation.agoMs}`)
    const held = this.observer.held(boot).map((job) => ({ job, startAt: this.observer.oracle.startOf(job, boot) }))
    this.observer.oracle.note(now, { kind: 'host silent', boot, since, held })
    await this.queue.hostSilent(boot, since)
  }

  private async control({ kind, job }: Extract<Operation, { kind: 'cancel' | 'retry' }>): Promise<void> {
    const chosen = pick(this.observer.jobs, job)
    if (!chosen) return
    const before = this.observer.oracle.state(chosen, this.observer.now())
    this.observer.say(`${kind} ${this.observer.name(chosen)}, which is ${before}`)
    this.observer.oracle.note(this.observer.now(), { kind: kind === 'cancel' ? 'cancelled' : 'retried', job: chosen })
    const reply = await this.queue[kind](chosen)
    if (kind === 'cancel') this.observer.compareRecord(chosen, reply)
    else this.observer.same('the status code of a retry', reply.status, before === 'gone' ? 404 : before === 'FAILED' ? 200 : 400)
  }

  private async purge(): Promise<void> {
    const waiting = this.observer.oracle.queue(this.observer.now()).length
    this.observer.say(`purge ${waiting}`)
    this.observer.oracle.note(this.observer.now(), { kind: 'purged' })
    this.observer.same('jobs removed by a purge', await this.queue.purge(), waiting)
  }

  private async pass(ms: number): Promise<void> {
    this.observer.say(`pass ${ms}`)
    await this.moveTo(this.observer.now() + ms)
  }

  private async passToEdge(offsetMs: number): Promise<void> {
    const edge = this.observer.oracle.nextChange(this.observer.now())
    if (edge === null || edge + offsetMs <= this.observer.now()) return
    this.observer.say(`pass to ${offsetMs} ms from an edge, ${edge + offsetMs - this.observer.now()} ms away`)
    await this.moveTo(edge + offsetMs)
  }

  private async live(ms: number, paused: number | null): Promise<void> {
    const asleep = paused === null ? undefined : pick(this.observer.accepting(), paused)
    this.observer.say(`live ${ms}${asleep ? ` without ${this.observer.name(asleep)}` : ''}`)
    const endAt = this.observer.now() + ms
    while (this.observer.now() < endAt) {
      await this.moveTo(Math.min(endAt, this.observer.now() + PING_EVERY_MS))
      await this.meetBoots()
      for (const boot of this.observer.present()) {
        if (boot === asleep || this.observer.over.has(boot)) continue
        if (this.observer.lastTakeAt.has(boot)) await this.ping(boot, this.observer.held(boot))
        await this.observer.settle()
        await this.askAgain(boot)
      }
    }
  }

  /** As an SDK: one take at a time, repeated when its hold is over. */
  private async askAgain(boot: Boot): Promise<void> {
    if (!this.observer.accepting().includes(boot)) return
    const open = this.observer.open.find((take) => take.boot === boot)
    const since = this.observer.now() - (this.observer.lastTakeAt.get(boot) ?? Number.NEGATIVE_INFINITY)
    if (open ? since >= POLL_AGAIN_MS : this.observer.held(boot).length === 0)
      await this.take(boot, open?.capacity ?? 1, this.observer.held(boot).length === 0)
  }

  private async restart(): Promise<void> {
    this.observer.say('restart')
    this.observer.open = []
    await this.queue.restart()
    this.observer.oracle.note(this.observer.now(), { kind: 'loaded' })
  }

  /** Moves the clock from one deadline to the next, so that each is handled when it is due. */
  private async moveTo(target: number): Promise<void> {
    while (this.observer.now() < target) {
      const alarm = (await this.queue.alarmAtMs()) ?? target
      const change = this.observer.oracle.nextChange(this.observer.now()) ?? target
      await this.queue.moveTo(Math.max(this.observer.now(), Math.min(target, alarm, change)))
      await this.observer.settle()
    }
  }

  /** Liveness: with workers that work, everything ends. */
  private async finish(): Promise<void> {
    for (let round = 0; round < LAST_ROUNDS; round++) {
      const states = this.observer.jobs.map((job) => this.observer.oracle.state(job, this.observer.now()))
      if (!states.includes('waiting') && !states.includes('running')) break
      for (const boot of this.observer.boots) for (const job of this.observer.held(boot)) await this.post(boot, job, 'output')
      await this.observer.settle()
      await this.live(LAST_ROUND_MS, null)
      // SCALE-4: low priority jobs alone start no worker.
      if (this.queue.scales && round % BECKON_EVERY_ROUNDS === 0 && this.observer.accepting().length === 0) await this.submit(ORDINARY_JOB)
    }
    await this.observer.checkRecords()
    const { inQueue, inProgress } = this.observer.oracle.counts(this.observer.now())
    this.observer.same('jobs left', [inQueue, inProgress], [0, 0])
  }
}

function pick<T>(list: readonly T[], position: number): T | undefined {
  return list[position % Math.max(1, list.length)]
}
