// The answers that a reader must see, derived only from the facts of a history and the rules in docs/SPEC.md.
//
// DELIBERATELY INDEPENDENT: this file imports nothing of src/ or durable-objects/ and is built another way. There is no state that
// operations change. The chronicle only grows; a job's biography (its chapters, future ones included) is worked out anew from the facts,
// each chapter ending with the earliest of the things that can end it. A mistake in the platform is therefore not repeated here.

import { type Boot, type Fact, type Happening, isAfter, type Moment } from './facts.ts'
import { type Annals, type Chapter, LEASE_MS, removalAt, SILENCE_MIN_MS, silenceWait, writeTimeline } from './timeline.ts'

/** The members that `/status` must and may have. Null: 404. */
export type Sighting = { must: Record<string, unknown>; may: Record<string, unknown> } | null

/** A connection that waits for work. */
export interface OpenTake {
  boot: Boot
  capacity: number
}

/** All facts in order, and their consequences. */
export class Chronicle implements Annals {
  readonly facts: Fact[] = []
  private readonly ofJob = new Map<string, Fact[]>()
  private readonly ofBoot = new Map<Boot, Fact[]>()
  private readonly purges: Fact[] = []
  private readonly told = new Map<string, Chapter[]>()

  note(at: number, happening: Happening): void {
    const fact: Fact = { ...happening, at, n: this.facts.length }
    this.facts.push(fact)
    this.untell(fact)
    if ('job' in fact) file(this.ofJob, fact.job, fact)
    if ('boot' in fact) file(this.ofBoot, fact.boot, fact)
    if (fact.kind === 'purged') this.purges.push(fact)
    if (fact.kind === 'loaded') for (const facts of this.ofBoot.values()) facts.push(fact)
  }

  jobs(): string[] {
    return [...this.ofJob.keys()]
  }

  /** The required answer of `/status` at an instant. */
  sighting(job: string, at: number): Sighting {
    return describe(this, job, this.chapter(job, at), at)
  }

  /** The state of a job at an instant. */
  state(job: string, at: number): Chapter['state'] {
    return this.chapter(job, at).state
  }

  /** The next instant at which time alone changes a job or a boot, so at which the alarm is due. */
  nextChange(at: number): number | null {
    return earliest([...this.laterChapters(at).map(({ chapter }) => chapter.from.at), ...this.laterSilences(at)])
  }

  /** When the queue must wake after an instant at the latest: the rows of ended jobs, which no one sees any more, may wait (JOB-49). */
  nextWake(at: number): number | null {
    const wakes = this.laterChapters(at).map(({ job, chapter, before }) => {
      const isRemoval = chapter.state === 'gone' && before !== 'waiting' && before !== 'running'
      return isRemoval ? removalAt(chapter.from.at, this.birth(job).retentionMs) : chapter.from.at
    })
    return earliest([...wakes, ...this.laterSilences(at)])
  }

  private laterChapters(at: number): { job: string; chapter: Chapter; before: Chapter['state'] | undefined }[] {
    const all = this.jobs().flatMap((job) =>
      this.timelineOf(job).map((chapter, index, chapters) => ({ job, chapter, before: chapters[index - 1]?.state })),
    )
    return all.filter(({ chapter }) => chapter.from.at > at)
  }

  private laterSilences(at: number): number[] {
    const silences = [...this.ofBoot.keys()].filter((boot) => this.mayTake(boot, at)).map((boot) => this.silentAt(boot))
    return silences.filter((instant) => instant > at)
  }

  /** `/health`: jobs by state at an instant, and how often each terminal state was reached. */
  counts(at: number): Record<'inQueue' | 'inProgress' | 'completed' | 'failed' | 'retried', number> {
    const counts = { inQueue: 0, inProgress: 0, completed: 0, failed: 0, retried: 0 }
    for (const job of this.jobs()) {
      const past = this.timelineOf(job).filter((chapter) => chapter.from.at <= at)
      const now = past.at(-1)?.state
      if (now === 'waiting') counts.inQueue++
      if (now === 'running') counts.inProgress++
      counts.completed += past.filter((chapter) => chapter.state === 'COMPLETED').length
      counts.failed += past.filter((chapter) => chapter.state === 'FAILED').length
      counts.retried += past.slice(1).filter((chapter) => chapter.state === 'waiting').length
    }
    return counts
  }

  /** Jobs that wait at an instant, in the order in which they are to be taken: low priority behind all others (SCALE-4), then by place. */
  queue(at: number): string[] {
    const waiting = this.jobs().filter((job) => this.state(job, at) === 'waiting')
    const rank = (job: string) => Number(this.birth(job).low)
    return waiting.sort((a, b) => rank(a) - rank(b) || this.chapter(a, at).place - this.chapter(b, at).place)
  }

  /** The assignment of jobs to the waiting connections, the longest waiting first (WRK-12, LSE-9, LSE-33). */
  takes(open: readonly OpenTake[], at: number): { boot: Boot; job: string }[] {
    const given: { boot: Boot; job: string }[] = []
    const load = (boot: Boot) => this.heldBy(boot, at).length + given.filter((gift) => gift.boot === boot).length
    const room = (take: OpenTake) => take.capacity - given.filter((gift) => gift.boot === take.boot).length
    for (const job of this.queue(at)) {
      const able = open.filter((take) => room(take) > 0 && this.mayTake(take.boot, at) && !this.hasHeld(take.boot, job))
      const least = Math.min(...able.map((take) => load(take.boot)))
      const chosen = able.find((take) => load(take.boot) === least)
      if (chosen) given.push({ boot: chosen.boot, job })
    }
    return given
  }

  /** Jobs that a boot holds at an instant. */
  heldBy(boot: Boot, at: number): string[] {
    return this.jobs().filter((job) => {
      if (this.birth(job).at > at) return false
      const chapter = this.chapter(job, at)
      return chapter.state === 'running' && chapter.attempt?.boot === boot
    })
  }

  /** Whether a boot was ever given a job (LSE-9). */
  hasHeld(boot: Boot, job: string): boolean {
    return this.about(job).some((fact) => fact.kind === 'taken' && fact.boot === boot)
  }

  /** Whether a boot may get work: not once its container ended, it fell silent (LSE-7), it is draining, or it lost a lease (LSE-33). */
  mayTake(boot: Boot, at: number): boolean {
    return this.isAlive(boot, at) && !this.by(boot).some((fact) => fact.kind === 'drained') && !this.lostLease(boot, at)
  }

  /** Whether a lease of this boot ended without a result. */
  lostLease(boot: Boot, at: number): boolean {
    return this.jobs().some((job) => this.timelineOf(job).some((chapter) => chapter.from.at <= at && chapter.lost === boot))
  }

  /** Whether a boot was draining before this fact. */
  wasDraining(boot: Boot, moment: Moment): boolean {
    return this.by(boot).some((fact) => fact.kind === 'drained' && isAfter(moment, fact))
  }

  isAlive(boot: Boot, at: number): boolean {
    return !this.by(boot).some((fact) => fact.kind === 'ended') && at < this.silentAt(boot)
  }

  /** The first instant at which a boot has not pinged for four intervals (LSE-7), counted from its first contact. */
  silentAt(boot: Boot): number {
    let [seenAt, excusedTo, mayHavePinged] = [Number.POSITIVE_INFINITY, 0, false]
    const silentAt = () => Math.max(seenAt + LEASE_MS, excusedTo)
    for (const fact of this.by(boot)) {
      if (fact.at >= silentAt()) return silentAt()
      // LSE-24: the boot may have pinged until this load, unless it did not ping since the previous one.
      if (fact.kind === 'booted' || fact.kind === 'pinged' || (fact.kind === 'loaded' && mayHavePinged)) {
        seenAt = fact.at
        mayHavePinged = fact.kind !== 'loaded'
      }
      // HOST-36: the queue waits for the boot as long as for any of its jobs.
      if (fact.kind === 'host silent') excusedTo = Math.max(excusedTo, ...waits(fact), fact.since + SILENCE_MIN_MS)
      if (fact.kind === 'host heard' && excusedTo > fact.at) excusedTo = fact.at + LEASE_MS
    }
    return silentAt()
  }

  /** Whether the queue waits for the silent machine of a boot at an instant (HOST-36). */
  isExcused(boot: Boot, moment: Moment): boolean {
    let excusedTo = 0
    for (const fact of this.by(boot).filter((fact) => isAfter(moment, fact))) {
      if (fact.kind === 'host silent') excusedTo = Math.max(excusedTo, ...waits(fact), fact.since + SILENCE_MIN_MS)
      if (fact.kind === 'host heard' && excusedTo > fact.at) excusedTo = fact.at + LEASE_MS
    }
    return moment.at < excusedTo
  }

  /** The instant at which a boot got a job that it holds. */
  startOf(job: string, boot: Boot): number {
    const taken = this.about(job).findLast((fact) => fact.kind === 'taken' && fact.boot === boot)
    if (!taken) throw new Error(`${boot} was never given ${job}`)
    return taken.at
  }

  about(job: string): readonly Fact[] {
    return this.ofJob.get(job) ?? []
  }

  by(boot: Boot): readonly Fact[] {
    return this.ofBoot.get(boot) ?? []
  }

  firstPurgeAfter(moment: Moment): Fact | undefined {
    return this.purges.find((fact) => isAfter(fact, moment))
  }

  birth(job: string): Fact & { kind: 'submitted' } {
    const birth = this.about(job)[0]
    if (birth?.kind !== 'submitted') throw new Error(`${job} was never submitted`)
    return birth
  }

  /** Biographies that a fact may change are worked out again. */
  private untell(fact: Fact): void {
    if ('job' in fact) this.told.delete(fact.job)
    else if ('boot' in fact) for (const about of this.by(fact.boot)) this.told.delete('job' in about ? about.job : '')
    else this.told.clear()
  }

  private chapter(job: string, at: number): Chapter {
    const chapter = this.timelineOf(job).findLast(({ from }) => from.at <= at)
    if (!chapter) throw new Error(`${job} is not submitted yet`)
    return chapter
  }

  /** All chapters of a job's life as far as facts and timers decide them, those that time will bring included. */
  private timelineOf(job: string): Chapter[] {
    const known = this.told.get(job)
    if (known) return known
    const chapters = writeTimeline(this, job)
    this.told.set(job, chapters)
    return chapters
  }
}

/** The instant until which the queue waits for each job that a silent machine holds. */
function waits({ since, held }: Fact & { kind: 'host silent' }): number[] {
  return held.map(({ startAt }) => since + silenceWait(since - startAt))
}

/** A chapter as a job record (JOB-1 to JOB-5). */
function describe(chronicle: Chronicle, job: string, chapter: Chapter, at: number): Sighting {
  const { attempt, state } = chapter
  if (state === 'gone') return null
  const retries = chapter.retries > 0 ? { retries: chapter.retries } : {}
  const submittedAt = chronicle.birth(job).at
  const assigned = attempt ? { delayTime: attempt.startAt - submittedAt, workerId: workerOf(attempt.boot) } : {}
  if (state === 'waiting') return { must: { status: 'IN_QUEUE', ...retries }, may: assigned }
  if (state === 'running')
    return { must: { status: 'IN_PROGRESS', ...assigned, ...retries, ...progress(chronicle, job, chapter, at) }, may: {} }
  const never = { delayTime: chapter.from.at - submittedAt, workerId: '', executionTime: 0 }
  const ran = attempt ? { ...assigned, executionTime: (attempt.endAt ?? at) - attempt.startAt } : never
  const result = { ...('output' in chapter && { output: chapter.output }), ...(chapter.error !== undefined && { error: chapter.error }) }
  return { must: { status: state, ...ran, ...retries, ...result }, may: {} }
}

/** The newest progress value of the running attempt. */
function progress(chronicle: Chronicle, job: string, chapter: Chapter, at: number): Record<string, unknown> {
  const updates = chronicle.about(job).filter((fact) => isAfter(fact, chapter.from) && fact.at <= at)
  const newest = updates.findLast((fact) => fact.kind === 'progressed' && fact.boot === chapter.attempt?.boot)
  return newest?.kind === 'progressed' ? { output: newest.output } : {}
}

/** The worker of a boot; a boot is written `worker/nonce`. */
function workerOf(boot: Boot): string {
  return boot.split('/')[0] ?? boot
}

function file<K>(map: Map<K, Fact[]>, key: K, fact: Fact): void {
  const list = map.get(key)
  if (list) list.push(fact)
  else map.set(key, [fact])
}

function earliest(instants: readonly number[]): number | null {
  return instants.length === 0 ? null : Math.min(...instants)
}
