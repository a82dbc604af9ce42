import type { Boot } from './facts.ts'
import type { Operation } from './operations.ts'
import type { PostBody, QueueUnderTest, SubmitOptions } from './queue-under-test.ts'
import { Witness } from './witness.ts'

/** Ping interval of a worker SDK, and pause of this one before it polls again without a job. Milliseconds. */
const PING_EVERY_MS = 10_000
const POLL_AGAIN_MS = 20_000
const LAST_ROUNDS = 90
const LAST_ROUND_MS = 10_000
const BECKON_EVERY_ROUNDS = 10
const ORDINARY_JOB = { low: false, sync: false, ttlMs: 86_400_000, executionMs: 600_000 }

/** Plays one history against a queue; after every operation a witness compares the observations with the rules. */
export class History {
  private readonly queue: QueueUnderTest
  private readonly checkEvery: number
  private readonly witness: Witness
  private posts = 0

  constructor(queue: QueueUnderTest, options: { checkEvery: number }) {
    this.queue = queue
    this.witness = new Witness(queue)
    this.checkEvery = options.checkEvery
  }

  async play(operations: readonly Operation[]): Promise<void> {
    await this.meetBoots()
    for (const [index, operation] of operations.entries()) {
      if (operation.kind === 'nothing') continue
      await this.step(operation)
      await this.witness.settle()
      if (index % this.checkEvery !== 0) continue
      await this.witness.checkRecords()
      // A scaler may run on any read of the queue; its decisions are observed before time moves on.
      if (this.queue.scales) await this.witness.settle()
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
    this.witness.say(`submit #${this.witness.jobs.length}${low ? ' low' : ''}${sync ? ' sync' : ''} ttl ${ttlMs} execution ${executionMs}`)
    this.witness.jobs.push(job)
    this.witness.oracle.note(this.witness.now(), {
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
      this.witness.say(`boot ${this.witness.boots.length}`)
      this.witness.boots.push(boot)
    }
    await this.witness.settle()
  }

  private async takeOne({ boot, capacity, forgetful }: Extract<Operation, { kind: 'take' }>): Promise<void> {
    const chosen = pick(forgetful ? this.witness.present() : this.witness.accepting(), boot)
    if (chosen) await this.take(chosen, capacity, forgetful || this.witness.held(chosen).length === 0)
  }

  private async take(boot: Boot, capacity: number, idle: boolean): Promise<void> {
    this.witness.say(`take ${this.witness.name(boot)} up to ${capacity}${idle ? ' idle' : ''}`)
    const now = this.witness.now()
    if (!this.witness.lastTakeAt.has(boot)) this.witness.oracle.note(now, { kind: 'booted', boot })
    if (idle) this.witness.oracle.note(now, { kind: 'polled idle', boot })
    this.witness.lastTakeAt.set(boot, now)
    this.witness.open = this.witness.open.filter((take) => take.boot !== boot)
    if (!this.witness.draining.has(boot)) this.witness.open.push({ boot, capacity })
    await this.queue.take(boot, capacity, idle)
    await this.witness.settle()
  }

  private async pingOne({ boot, listing }: Extract<Operation, { kind: 'ping' }>): Promise<void> {
    const chosen = pick(
      this.witness.present().filter((one) => this.witness.lastTakeAt.has(one)),
      boot,
    )
    if (!chosen) return
    const held = this.witness.held(chosen)
    const lists = { all: held, none: [], half: held.filter((_, i) => i % 2 === 0), stale: this.witness.given.get(chosen) ?? [] }
    await this.ping(chosen, lists[listing])
  }

  private async ping(boot: Boot, listed: readonly string[]): Promise<void> {
    this.witness.say(`ping ${this.witness.name(boot)} lists ${listed.map((job) => this.witness.name(job)).join(' ') || 'nothing'}`)
    this.witness.oracle.note(this.witness.now(), { kind: 'pinged', boot, listed })
    await this.queue.ping(boot, listed)
  }

  private async answer({ boot, job, outcome }: Extract<Operation, { kind: 'done' }>): Promise<void> {
    const chosen = pick(
      this.witness.boots.filter((one) => this.witness.held(one).length > 0),
      boot,
    )
    const held = chosen && pick(this.witness.held(chosen), job)
    if (chosen && held) await this.post(chosen, held, outcome)
  }

  private async answerStray({ boot, job, foreign, error }: Extract<Operation, { kind: 'stray done' }>): Promise<void> {
    const chosen = pick(
      this.witness.boots.filter((one) => this.witness.given.has(one)),
      boot,
    )
    const answered = chosen && pick(foreign ? this.witness.jobs : (this.witness.given.get(chosen) ?? []), job)
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
    this.witness.say(`done ${this.witness.name(boot)} ${this.witness.name(job)} ${JSON.stringify(body)}`)
    const { stopPod, ...result } = body
    this.witness.oracle.note(this.witness.now(), { kind: 'posted', job, boot, ...result })
    if (stopPod) this.witness.askedToStop.add(boot)
    await this.queue.done(boot, job, body)
  }

  private async report({ kind, boot, job, stray }: Extract<Operation, { kind: 'progress' | 'chunk' }>): Promise<void> {
    const known = (one: Boot) => (stray ? (this.witness.given.get(one) ?? []) : this.witness.held(one))
    const chosen = pick(
      this.witness.boots.filter((one) => known(one).length > 0),
      boot,
    )
    const about = chosen && pick(known(chosen), job)
    if (!chosen || !about) return
    this.witness.say(`${kind} ${this.witness.name(chosen)} ${this.witness.name(about)}`)
    if (kind === 'chunk') {
      this.witness.oracle.note(this.witness.now(), { kind: 'streamed', job: about, boot: chosen })
      await this.queue.chunk(chosen, about)
      return
    }
    const output = { step: ++this.posts }
    this.witness.oracle.note(this.witness.now(), { kind: 'progressed', job: about, boot: chosen, output })
    await this.queue.progress(chosen, about, output)
  }

  private async crash({ boot, byHost }: Extract<Operation, { kind: 'crash' }>): Promise<void> {
    const chosen = pick(this.witness.present(), boot)
    if (!chosen) return
    this.witness.say(`crash ${this.witness.name(chosen)}${byHost ? ' with its host' : ''}`)
    this.witness.over.add(chosen)
    this.witness.oracle.note(this.witness.now(), { kind: 'ended', boot: chosen, by: byHost ? 'its host' : 'itself' })
    await this.queue.crash(chosen, byHost)
  }

  /** The silence or return of a machine, for a boot that has asked for work before (HOST-36). */
  private async hostChanges(operation: Extract<Operation, { kind: 'host silent' | 'host heard' }>): Promise<void> {
    const known = this.witness.present().filter((one) => this.witness.lastTakeAt.has(one))
    const boot = pick(known, operation.boot)
    if (!boot) return
    const now = this.witness.now()
    if (operation.kind === 'host heard') {
      this.witness.say(`the host of ${this.witness.name(boot)} is heard of`)
      this.witness.oracle.note(now, { kind: 'host heard', boot })
      await this.queue.hostHeard(boot)
      return
    }
    const since = now - operation.agoMs
    this.witness.say(`the host of ${this.witness.name(boot)} is silent for ${operation.agoMs}`)
    const held = this.witness.held(boot).map((job) => ({ job, startAt: this.witness.oracle.startOf(job, boot) }))
    this.witness.oracle.note(now, { kind: 'host silent', boot, since, held })
    await this.queue.hostSilent(boot, since)
  }

  private async control({ kind, job }: Extract<Operation, { kind: 'cancel' | 'retry' }>): Promise<void> {
    const chosen = pick(this.witness.jobs, job)
    if (!chosen) return
    const before = this.witness.oracle.state(chosen, this.witness.now())
    this.witness.say(`${kind} ${this.witness.name(chosen)}, which is ${before}`)
    this.witness.oracle.note(this.witness.now(), { kind: kind === 'cancel' ? 'cancelled' : 'retried', job: chosen })
    const reply = await this.queue[kind](chosen)
    if (kind === 'cancel') this.witness.compareRecord(chosen, reply)
    else this.witness.same('the status code of a retry', reply.status, before === 'gone' ? 404 : before === 'FAILED' ? 200 : 400)
  }

  private async purge(): Promise<void> {
    const waiting = this.witness.oracle.queue(this.witness.now()).length
    this.witness.say(`purge ${waiting}`)
    this.witness.oracle.note(this.witness.now(), { kind: 'purged' })
    this.witness.same('jobs removed by a purge', await this.queue.purge(), waiting)
  }

  private async pass(ms: number): Promise<void> {
    this.witness.say(`pass ${ms}`)
    await this.moveTo(this.witness.now() + ms)
  }

  private async passToEdge(offsetMs: number): Promise<void> {
    const edge = this.witness.oracle.nextChange(this.witness.now())
    if (edge === null || edge + offsetMs <= this.witness.now()) return
    this.witness.say(`pass to ${offsetMs} ms from an edge, ${edge + offsetMs - this.witness.now()} ms away`)
    await this.moveTo(edge + offsetMs)
  }

  private async live(ms: number, paused: number | null): Promise<void> {
    const asleep = paused === null ? undefined : pick(this.witness.accepting(), paused)
    this.witness.say(`live ${ms}${asleep ? ` without ${this.witness.name(asleep)}` : ''}`)
    const endAt = this.witness.now() + ms
    while (this.witness.now() < endAt) {
      await this.moveTo(Math.min(endAt, this.witness.now() + PING_EVERY_MS))
      await this.meetBoots()
      for (const boot of this.witness.present()) {
        if (boot === asleep || this.witness.over.has(boot)) continue
        if (this.witness.lastTakeAt.has(boot)) await this.ping(boot, this.witness.held(boot))
        await this.witness.settle()
        await this.askAgain(boot)
      }
    }
  }

  /** As an SDK: one take at a time, repeated when its hold is over. */
  private async askAgain(boot: Boot): Promise<void> {
    if (!this.witness.accepting().includes(boot)) return
    const open = this.witness.open.find((take) => take.boot === boot)
    const since = this.witness.now() - (this.witness.lastTakeAt.get(boot) ?? Number.NEGATIVE_INFINITY)
    if (open ? since >= POLL_AGAIN_MS : this.witness.held(boot).length === 0)
      await this.take(boot, open?.capacity ?? 1, this.witness.held(boot).length === 0)
  }

  private async restart(): Promise<void> {
    this.witness.say('restart')
    this.witness.open = []
    await this.queue.restart()
    this.witness.oracle.note(this.witness.now(), { kind: 'loaded' })
  }

  /** Moves the clock from one deadline to the next, so that each is handled when it is due. */
  private async moveTo(target: number): Promise<void> {
    while (this.witness.now() < target) {
      const alarm = (await this.queue.alarmAtMs()) ?? target
      const change = this.witness.oracle.nextChange(this.witness.now()) ?? target
      await this.queue.moveTo(Math.max(this.witness.now(), Math.min(target, alarm, change)))
      await this.witness.settle()
    }
  }

  /** Liveness: with workers that work, everything ends. */
  private async finish(): Promise<void> {
    for (let round = 0; round < LAST_ROUNDS; round++) {
      const states = this.witness.jobs.map((job) => this.witness.oracle.state(job, this.witness.now()))
      if (!states.includes('waiting') && !states.includes('running')) break
      for (const boot of this.witness.boots) for (const job of this.witness.held(boot)) await this.post(boot, job, 'output')
      await this.witness.settle()
      await this.live(LAST_ROUND_MS, null)
      // SCALE-4: low priority jobs alone start no worker.
      if (this.queue.scales && round % BECKON_EVERY_ROUNDS === 0 && this.witness.accepting().length === 0) await this.submit(ORDINARY_JOB)
    }
    await this.witness.checkRecords()
    const { inQueue, inProgress } = this.witness.oracle.counts(this.witness.now())
    this.witness.same('jobs left', [inQueue, inProgress], [0, 0])
  }
}

function pick<T>(list: readonly T[], position: number): T | undefined {
  return list[position % Math.max(1, list.length)]
}
