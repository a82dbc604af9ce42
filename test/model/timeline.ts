// Part of the independent oracle: see oracle.ts.

import { type Boot, type Fact, isAfter, type Moment } from './facts.ts'

/** Numbers of the rules, repeated here on purpose. */
const PING_MS = 10_000
const ACK_MS = 3 * PING_MS
export const LEASE_MS = 4 * PING_MS
const IDLE_GRACE_MS = 2_000
export const SILENCE_MIN_MS = 35_000
const SILENCE_MAX_MS = 600_000
const MISSING_PINGS = 2
const [SECOND_MS, FIVE_MINUTES_MS] = [1_000, 300_000]
const RETRIES = 1
const UNCONFIRMED = 10
const HOST_LOSSES = 20

export interface Attempt {
  boot: Boot
  startAt: number
  /** When the attempt stopped being the running one; null while it runs. */
  endAt: number | null
}

/** The known facts of a queue, by job and by boot. */
export interface Annals {
  about(job: string): readonly Fact[]
  birth(job: string): Fact & { kind: 'submitted' }
  by(boot: Boot): readonly Fact[]
  firstPurgeAfter(moment: Moment): Fact | undefined
  /** The first instant at which a boot has not pinged for so long that its work is given up (LSE-7). */
  silentAt(boot: Boot): number
  /** Whether the queue waits for the silent machine of a boot at a moment (HOST-36). */
  isExcused(boot: Boot, moment: Moment): boolean
  /** Whether a boot was draining before this fact. */
  wasDraining(boot: Boot, moment: Moment): boolean
}

/** A stretch of a job's life in which a reader sees the same state. */
export interface Chapter {
  state: 'waiting' | 'running' | 'COMPLETED' | 'FAILED' | 'CANCELLED' | 'gone'
  from: Moment
  /** Its place in the queue: the fact that put it there (JOB-31). */
  place: number
  retries: number
  attempt: Attempt | null
  output?: unknown
  error?: string
  /** Leases since the submit or the last `/retry` that ended unconfirmed (LSE-30). */
  unconfirmed: number
  /** Leases since then that were lost with a machine (LSE-20). */
  hostLosses: number
  /** The lease before this chapter was lost, so its boot gets no more work (LSE-33). */
  lost?: Boot
}

/** All chapters of a job's life, as far as facts and timers decide them. */
export function writeTimeline(annals: Annals, job: string): Chapter[] {
  const birth = annals.birth(job)
  const chapters: Chapter[] = [{ state: 'waiting', from: birth, place: birth.n, retries: 0, unconfirmed: 0, hostLosses: 0, attempt: null }]
  for (;;) {
    const last = chapters[chapters.length - 1] as Chapter
    const gone: Chapter = { ...last, state: 'gone', from: timer(birth.at + birth.ttlMs) }
    const next = earliest([gone, ...sequels(annals, job, last)])
    chapters.push(next)
    if (next.state === 'gone') return chapters
  }
}

/** Everything that can come after a chapter (JOB-11). */
function sequels(annals: Annals, job: string, chapter: Chapter): Chapter[] {
  if (chapter.state === 'waiting') return afterWaiting(annals, job, chapter)
  if (chapter.state === 'running') return afterRunning(annals, job, chapter)
  return afterTheEnd(annals, job, chapter)
}

function afterWaiting(annals: Annals, job: string, chapter: Chapter): Chapter[] {
  const facts = annals.about(job).filter((fact) => isAfter(fact, chapter.from))
  const purge = annals.firstPurgeAfter(chapter.from)
  const endings: Chapter[] = purge ? [{ ...chapter, state: 'CANCELLED', from: purge }] : []
  for (const fact of facts) {
    if (fact.kind === 'cancelled') endings.push({ ...chapter, state: 'CANCELLED', from: fact })
    if (fact.kind === 'taken') endings.push({ ...chapter, state: 'running', from: fact, attempt: begin(fact) })
    // LSE-11: no other boot has begun, so the last holder's late result counts and there is no rerun.
    if (fact.kind === 'posted' && chapter.attempt?.boot === fact.boot) endings.push(concluded(chapter, fact))
  }
  return endings
}

function afterRunning(annals: Annals, job: string, chapter: Chapter): Chapter[] {
  const attempt = chapter.attempt as Attempt
  const timeout = timer(attempt.startAt + annals.birth(job).executionMs)
  const endings: Chapter[] = [
    stopped(chapter, { state: 'FAILED', from: timeout, error: 'executionTimeout exceeded' }),
    afterLoss(chapter, leaseEnd(annals, job, chapter)),
  ]
  for (const fact of annals.about(job).filter((fact) => isAfter(fact, chapter.from))) {
    if (fact.kind === 'cancelled') endings.push(stopped(chapter, { state: 'CANCELLED', from: fact }))
    if (fact.kind === 'posted' && fact.boot === attempt.boot) endings.push(concluded(chapter, fact))
  }
  return endings
}

/** JOB-49: the next multiple of a tenth of the retention, which counts as one second at least and as five minutes at most. */
export function removalAt(at: number, retentionMs: number): number {
  const step = Math.max(SECOND_MS, Math.min(FIVE_MINUTES_MS, retentionMs / 10))
  return at % step === 0 ? at : at - (at % step) + step
}

/** A terminal state is left by deletion and, from FAILED, by `/retry` (JOB-6, CTL-2). */
function afterTheEnd(annals: Annals, job: string, chapter: Chapter): Chapter[] {
  const endings: Chapter[] = [{ ...chapter, state: 'gone', from: timer(chapter.from.at + annals.birth(job).retentionMs) }]
  const retry = annals.about(job).find((fact) => fact.kind === 'retried' && isAfter(fact, chapter.from))
  if (retry && chapter.state === 'FAILED') {
    // A new run that starts at the tail: earlier attempts, late results included, have no part in it.
    endings.push({ state: 'waiting', from: retry, place: retry.n, retries: 0, unconfirmed: 0, hostLosses: 0, attempt: null })
  }
  return endings
}

type LeaseEnd = Moment & { cost: 'retry' | 'a confirmation' | 'a machine' | 'nothing' }

/** When the lease of a running attempt ends without a result, and what that costs the job (LSE-2 to LSE-5, LSE-7, LSE-30). */
function leaseEnd(annals: Annals, job: string, chapter: Chapter): LeaseEnd {
  const boot = (chapter.attempt as Attempt).boot
  let acked = false
  let missing = 0
  let machineSilent = false
  let mayHaveShown = false
  let renewedTo = chapter.from.at + ACK_MS
  let idleFrom = Number.POSITIVE_INFINITY
  const silentAt = annals.silentAt(boot)
  const endAt = () => Math.min(renewedTo, idleFrom + IDLE_GRACE_MS, silentAt)
  for (const fact of annals.by(boot).filter((fact) => isAfter(fact, chapter.from))) {
    if (fact.at >= endAt()) break
    // WRK-29: an assignment that crossed a drain, or that the platform took back, is not the job's fault.
    // A crash is attributed to every job that the boot held, confirmed or not.
    if (fact.kind === 'ended') {
      if (fact.by === 'the platform' || (!acked && annals.wasDraining(boot, fact))) return { ...fact, cost: 'nothing' }
      return { ...fact, cost: fact.by === 'its host' ? 'a machine' : 'retry' }
    }
    if (fact.kind === 'polled idle') idleFrom = Math.min(idleFrom, fact.at)
    const signs = (fact.kind === 'progressed' || fact.kind === 'streamed') && fact.job === job
    const lists = fact.kind === 'pinged' && fact.listed.includes(job)
    if (signs || lists) acked = true
    // LSE-20: once the boot shows the job again, the silence of its machine is over for that job.
    if (signs || lists) machineSilent = false
    // LSE-4 excepts LSE-3: once the boot has shown that it holds nothing, nothing extends the lease.
    if ((signs || lists) && idleFrom === Number.POSITIVE_INFINITY) renewedTo = Math.max(renewedTo, fact.at + LEASE_MS)
    // LSE-24: the boot may have shown the job until this load, unless it did not show it since the previous one.
    if (fact.kind === 'loaded' && mayHaveShown && idleFrom === Number.POSITIVE_INFINITY) renewedTo = Math.max(renewedTo, fact.at + LEASE_MS)
    if (signs || lists) mayHaveShown = true
    else if (fact.kind === 'loaded' || fact.kind === 'host silent') mayHaveShown = false
    // HOST-36: the job waits as long as it had run when its machine fell silent; one more lease when the machine is back.
    if (fact.kind === 'host silent' && idleFrom === Number.POSITIVE_INFINITY) {
      machineSilent = true
      renewedTo = Math.max(renewedTo, fact.since + silenceWait(fact.since - chapter.from.at))
    }
    if (fact.kind === 'host heard' && idleFrom === Number.POSITIVE_INFINITY && annals.isExcused(boot, fact)) renewedTo = fact.at + LEASE_MS
    if (signs || lists) missing = 0
    else if (fact.kind === 'pinged' && acked && ++missing === MISSING_PINGS) return { ...fact, cost: 'retry' }
  }
  // WRK-19: a job that its boot has shown lost may have run, unless the silence of the boot ended the lease first.
  const shownLost = idleFrom !== Number.POSITIVE_INFINITY && Math.min(renewedTo, idleFrom + IDLE_GRACE_MS) <= silentAt
  if (machineSilent && idleFrom === Number.POSITIVE_INFINITY) return { ...timer(endAt()), cost: 'a machine' }
  return { ...timer(endAt()), cost: acked || shownLost ? 'retry' : 'a confirmation' }
}

/** How long a job that had run for this long waits for its silent machine (HOST-36). */
export function silenceWait(ranMs: number): number {
  if (ranMs <= SILENCE_MIN_MS) return SILENCE_MIN_MS
  return ranMs <= SILENCE_MAX_MS ? ranMs : SILENCE_MAX_MS
}

/** LSE-8, LSE-30, LSE-20, LSE-22. */
function afterLoss(chapter: Chapter, end: LeaseEnd): Chapter {
  const over = { from: end, lost: chapter.attempt?.boot as Boot }
  const retries = chapter.retries + (end.cost === 'retry' ? 1 : 0)
  const unconfirmed = chapter.unconfirmed + (end.cost === 'a confirmation' ? 1 : 0)
  const hostLosses = chapter.hostLosses + (end.cost === 'a machine' ? 1 : 0)
  const fail = (error: string) => stopped(chapter, { state: 'FAILED', ...over, error })
  if (retries > RETRIES) return fail(`job timed out after ${RETRIES} retries`)
  if (unconfirmed === UNCONFIRMED) return fail(`no worker confirmed the job, which was handed out ${UNCONFIRMED} times`)
  if (hostLosses === HOST_LOSSES) return fail(`the job was lost with its host ${HOST_LOSSES} times`)
  return stopped(chapter, { state: 'waiting', ...over, retries, unconfirmed, hostLosses })
}

function begin(fact: Fact & { kind: 'taken' }): Attempt {
  return { boot: fact.boot, startAt: fact.at, endAt: null }
}

/** The running attempt ends here. */
function stopped(chapter: Chapter, next: Partial<Chapter> & { from: Moment }): Chapter {
  return { ...chapter, ...next, attempt: { ...(chapter.attempt as Attempt), endAt: next.from.at } }
}

function concluded(chapter: Chapter, post: Fact & { kind: 'posted' }): Chapter {
  const result = { ...(post.output !== undefined && { output: post.output }), ...(post.error !== undefined && { error: post.error }) }
  return stopped(chapter, { state: post.error === undefined ? 'COMPLETED' : 'FAILED', from: post, ...result })
}

function timer(at: number): Moment {
  return { at, n: -1 }
}

/** The earliest ending; of two timers at one instant the one listed first. */
function earliest(chapters: readonly Chapter[]): Chapter {
  return chapters.reduce((first, chapter) => (isAfter(first.from, chapter.from) ? chapter : first))
}
