import { describe, expect, test } from 'vitest'
import { formatJobId } from '../../src/domain/job/id.ts'
import { type QueuedJob, submitJob } from '../../src/domain/job/job.ts'
import { leaseJob } from '../../src/domain/job/lease.ts'
import { knownIdleSinceMs } from '../../src/domain/worker/worker.ts'
import { stepOverRestOf } from '../../src/queue/clock-steps.ts'
import { beginCommit } from '../../src/queue/commit.ts'
import { applyDeadlines, nextDueAtMs } from '../../src/queue/deadlines.ts'
import { cancelJob } from '../../src/queue/jobs.ts'
import { takePing, takeStandingPing } from '../../src/queue/pings.ts'
import { alarmTrustOf, endHostStanding, endStanding, keepStanding, noteEndOfTake, WATCH_MS } from '../../src/queue/standing.ts'
import { Effects, type Tx } from '../../src/queue/tx.ts'
import { applyHostEvent } from '../../src/queue/workers/host-events.ts'
import { MemoryState, NO_TAKES } from '../support/queue/memory-state.ts'
import { workerIn } from '../support/queue/workers.ts'

const P = 10_000
const TERM = 4 * P
const HOLDER = { workerId: 'w', boot: 'b' }
const NO_CALLS = new Set<string>()
const FAR_MS = 100_000_000

/** A job that a worker has taken at this time. */
function lease(state: MemoryState, holder: typeof HOLDER, atMs: number): QueuedJob {
  const seq = state.jobs.nextSequence()
  const job = submitJob({
    ...{
      seq,
      id: formatJobId(seq, false, state.meta.idMask(), state.randomBytes(10)),
      lowPriority: false,
      webhook: null,
      hasS3Config: false,
    },
    ...{ createdAtMs: 0, ttlAtMs: FAR_MS, executionTimeoutMs: FAR_MS, retentionMs: 1 },
  })
  state.jobs.insert(job)
  state.jobs.save(job, leaseJob(job, holder, atMs, { pingIntervalMs: P }))
  return job
}

/** A queue whose worker runs a job since 0, and whose agent answers for its pings since 10 s. */
function watched(): MemoryState {
  const state = new MemoryState()
  lease(state, HOLDER, 0)
  state.workers.save(workerIn('READY', 'w', { lastSeenAtMs: 0, hostId: 'h' }))
  takeStandingPing(at(state, P), HOLDER, ping(state))
  arm(state, P)
  return state
}

/** Sets the alarm as the end of a commit does. */
function arm(state: MemoryState, nowMs: number): void {
  state.meta.setAlarmAtMs(nextDueAtMs(state, nowMs, NO_CALLS), alarmTrustOf(at(state, nowMs)))
}

const at = (state: MemoryState, nowMs: number): Tx => ({ state, nowMs, effects: new Effects() })
const jobId = (state: MemoryState) => state.jobs.bySeq(1)?.id ?? ''
const ping = (state: MemoryState) => ({ listed: new Set([jobId(state)]), sdkVersion: null, unhealthy: null })
const seen = (state: MemoryState) => [state.jobs.bySeq(1)?.state, state.workers.get('w')?.phase]
const HOLDS = ['IN_PROGRESS', 'READY']
const LOST = ['IN_QUEUE', 'FAILED']

/** The job and the worker are lost `TERM` after `sinceMs`, and not before. */
function expectTerm(state: MemoryState, sinceMs: number): void {
  applyDeadlines(at(state, sinceMs + TERM - 1))
  expect(seen(state), 'still waited for').toEqual(HOLDS)
  applyDeadlines(at(state, sinceMs + TERM))
  expect(seen(state), 'not for ever').toEqual(LOST)
}

/** The first commit of the queue after it has rested, or after its process has ended. */
function loaded(state: MemoryState, nowMs: number, channelIsOpen: boolean, heardAtMs = nowMs): MemoryState {
  const next = state.restarted(NO_TAKES)
  next.unheardHosts = () => new Map(channelIsOpen ? [['h', heardAtMs]] : [])
  beginCommit(at(next, nowMs), true)
  return next
}

describe('a standing ping', () => {
  test('[CHN-30] keeps worker and lease without another ping, and wakes the queue shortly before its end', () => {
    const state = watched()
    applyDeadlines(at(state, P + WATCH_MS - TERM - 1))
    expect(seen(state)).toEqual(HOLDS)
    expect(nextDueAtMs(state, P + TERM, NO_CALLS)).toBe(P + WATCH_MS - TERM)
    const tx = at(state, P + WATCH_MS - TERM)
    applyDeadlines(tx)
    expect([...tx.effects.recalls], 'the agent is asked').toEqual(['w'])
    expect(nextDueAtMs(state, tx.nowMs, NO_CALLS), 'and not asked again and again').toBe(P + WATCH_MS)
    applyDeadlines(at(state, P + WATCH_MS))
    expect(seen(state), 'an agent that does not answer').toEqual(LOST)
  })

  test.each<[string, (state: MemoryState, nowMs: number) => number]>([
    [
      'the agent withdraws it',
      (state, nowMs) => {
        endStanding(at(state, nowMs), { id: 'w' }, nowMs - 15_000)
        return nowMs - 15_000
      },
    ],
    [
      'its channel ends',
      (state, nowMs) => {
        endHostStanding(at(state, nowMs), 'h')
        return nowMs
      },
    ],
    [
      'a hello does not name it',
      (state, nowMs) => {
        keepStanding(at(state, nowMs), 'h', [{ workerId: 'w', boot: 'other' }])
        return nowMs
      },
    ],
    [
      'a ping does not stand',
      (state, nowMs) => {
        endStanding(at(state, nowMs), { id: 'w' }, nowMs)
        takePing(at(state, nowMs), HOLDER, ping(state))
        return nowMs
      },
    ],
  ])('[CHN-30] counts no more once %s: a whole term is left', (_, end) => {
    const state = watched()
    expectTerm(state, end(state, 300_000))
  })

  test('[CHN-30] of another host stays when a channel ends', () => {
    const state = watched()
    endHostStanding(at(state, 300_000), 'other')
    applyDeadlines(at(state, 300_000 + TERM))
    expect(seen(state)).toEqual(HOLDS)
  })

  test('[CHN-30, WRK-26] does not stand while the worker has stop orders: its agent is asked for each ping', () => {
    const state = watched()
    const job = state.jobs.bySeq(1)
    const cancel = at(state, 100_000)
    if (job) cancelJob(cancel, job)
    expect([...cancel.effects.recalls]).toEqual(['w'])
    const again = at(state, 110_000)
    takeStandingPing(again, HOLDER, ping(state))
    expect([...again.effects.recalls]).toEqual(['w'])
    expect(state.workers.get('w')).toMatchObject({ watchedUntilMs: null, lastSeenAtMs: 110_000 })
  })

  test.each(['silent', 'offline', 'heard'] as const)('[CHN-30, HOST-36] is doubted when the host is %s', (kind) => {
    const state = watched()
    const tx = at(state, 300_000)
    const event = kind === 'heard' ? { kind } : { kind, sinceMs: 260_000, waitMaxMs: 1_000 }
    applyHostEvent(tx, ['w'], event)
    expect([...tx.effects.recalls]).toEqual(['w'])
    expect(state.workers.get('w')).toMatchObject({ watchedUntilMs: null })
  })

  test('[CHN-30] lasts through a rest of the queue while its channel is open, however often', () => {
    let state = watched()
    for (let ms = 30_000; ms < 300_000; ms += 50_000) {
      state = loaded(state, ms, true)
      expect(state.workers.get('w')).toMatchObject({ loadedAtMs: null })
      applyDeadlines(at(state, ms + TERM))
      expect(seen(state)).toEqual(HOLDS)
    }
    keepStanding(at(state, 300_000), 'h', [])
    expectTerm(state, 300_000)
  })

  test('[CHN-30, LSE-20] a channel that ended with the plane costs no retry', () => {
    const state = loaded(watched(), 200_000, false)
    applyDeadlines(at(state, 200_000 + TERM))
    expect(seen(state)).toEqual(LOST)
    expect(state.jobs.bySeq(1)).toMatchObject({ retries: 0, hostLosses: 1 })
  })

  test('[CHN-30, LSE-34] an absence of the plane begins a term, and the agent is asked', () => {
    const state = watched()
    state.meta.setAlarmAtMs(100_000)
    const tx = at(state, 200_000)
    beginCommit(tx, false)
    expect([...tx.effects.recalls]).toEqual(['w'])
  })
})

describe('trust in an agent', () => {
  test('[CHN-30, LSE-7] a worker that has gone quiet is found although its queue rests again and again', () => {
    let state = watched()
    endStanding(at(state, 300_000), { id: 'w' }, 280_000)
    let nowMs = 300_000
    for (let rests = 0; rests < 3 && state.workers.get('w')?.phase === 'READY'; rests += 1) {
      nowMs = nextDueAtMs(state, nowMs, NO_CALLS) ?? nowMs
      state = loaded(state, nowMs, true)
      applyDeadlines(at(state, nowMs))
      state.unheardHosts = () => new Map()
      keepStanding(at(state, nowMs), 'h', [])
    }
    expect(seen(state)).toEqual(LOST)
    expect(nowMs).toBeLessThanOrEqual(280_000 + 2 * TERM)
  })

  test('[CHN-30, LSE-2] a worker with a job that it has not confirmed sends each ping, and the deadline counts', () => {
    const state = watched()
    const other = lease(state, HOLDER, 100_000)
    for (const nowMs of [105_000, 115_000, 125_000]) {
      const tx = at(state, nowMs)
      takeStandingPing(tx, HOLDER, ping(state))
      expect([...tx.effects.recalls]).toEqual(['w'])
    }
    takeStandingPing(at(state, 135_000), HOLDER, ping(state))
    expect(state.jobs.bySeq(other.seq)).toMatchObject({ state: 'IN_QUEUE', unconfirmed: 1 })
  })

  test('[CHN-30, WRK-22] a worker that pings before its first take sends each ping', () => {
    const state = new MemoryState()
    state.workers.save(workerIn('STARTING', 'w', { hostId: 'h' }))
    const tx = at(state, P)
    takeStandingPing(tx, HOLDER, { listed: new Set(), sdkVersion: null, unhealthy: null })
    expect([...tx.effects.recalls]).toEqual(['w'])
  })

  test('[CHN-30] ends as long after the last frame as a standing ping, however often the queue rests; the agent is asked before', () => {
    let state = watched()
    const recalls: string[] = []
    for (let nowMs = 100_000; nowMs < P + WATCH_MS; nowMs += 400_000) state = loaded(state, nowMs, true, P)
    for (const nowMs of [P + WATCH_MS - TERM, P + WATCH_MS]) {
      const tx = at(state, nowMs)
      applyDeadlines(tx)
      recalls.push(...tx.effects.recalls)
    }
    expect([...new Set(recalls), ...seen(state)]).toEqual(['w', ...LOST])
  })

  test('[CHN-30, CLK-4] an outage moves deadlines by its length, and the previous release finds no alarm far ahead', () => {
    const state = watched()
    expect(state.meta.alarmTrust()).toEqual({ hosts: ['h'], setAtMs: P })
    const armedAtMs = state.meta.alarmAtMs() ?? 0
    arm(state, 1_700_000)
    state.meta.setAlarmAtMs(armedAtMs, { hosts: ['h'], setAtMs: 1_700_000 })
    expect(stepOverRestOf(at(state, armedAtMs + 60_000))).toBe(armedAtMs + 60_000 - 1_700_000)
    expect(stepOverRestOf(at(state, 1_800_000 - 90_000)), 'nothing is late').toBe(0)
  })

  test('[CHN-30, LSE-23] a worker of a host without a channel loses a retry by its own silence', () => {
    const state = watched()
    const from = { workerId: 'x', boot: 'b' }
    state.workers.save(workerIn('READY', 'x', { lastSeenAtMs: 0, hostId: 'other' }))
    const other = lease(state, from, 0)
    takePing(at(state, 20_000), from, { listed: new Set([other.id]), sdkVersion: null, unhealthy: null })
    arm(state, 20_000)
    const rested = loaded(state, 50_000, true)
    applyDeadlines(at(rested, 95_000))
    expect(rested.jobs.bySeq(other.seq)).toMatchObject({ state: 'IN_QUEUE', retries: 1, hostLosses: 0 })
  })

  test('[CHN-30, SPD-7] a standing worker without a job is known to be idle', () => {
    const state = new MemoryState()
    state.workers.save(workerIn('READY', 'w', { lastSeenAtMs: 0, lastTakeAtMs: 0, idleSinceMs: 0, hostId: 'h' }))
    takeStandingPing(at(state, P), HOLDER, { listed: new Set(), sdkVersion: null, unhealthy: null })
    const worker = state.workers.get('w')
    expect(worker && knownIdleSinceMs(worker, 300_000)).toBe(0)
  })
})

describe('an open take', () => {
  const idle = (takes: typeof NO_TAKES) => {
    const state = new MemoryState(takes)
    state.workers.save(workerIn('READY', 'w', { lastSeenAtMs: 0, lastTakeAtMs: 0, idleSinceMs: 0, hostId: 'h' }))
    return state
  }

  test('[CHN-31, WRK-44] asks for work as long as it is open; the limit begins with its end', () => {
    let isPolling = true
    const state = idle({ openTakes: () => [], isPolling: () => isPolling })
    takeStandingPing(at(state, P), HOLDER, { listed: new Set(), sdkVersion: null, unhealthy: null })
    applyDeadlines(at(state, 500_000))
    expect(state.workers.get('w')?.phase).toBe('READY')
    isPolling = false
    takeStandingPing(at(state, 500_000), HOLDER, { listed: new Set(), sdkVersion: null, unhealthy: null })
    noteEndOfTake(at(state, 500_000), 'w')
    applyDeadlines(at(state, 619_999))
    expect(state.workers.get('w')?.phase).toBe('READY')
    applyDeadlines(at(state, 620_000))
    expect(state.workers.get('w')).toMatchObject({ phase: 'FAILED', reason: 'it sends pings, but does not request work' })
  })

  test('[CHN-31] of a queue that has rested counts until the agent has said hello', () => {
    const state = loaded(idle(NO_TAKES), 500_000, true)
    applyDeadlines(at(state, 500_000))
    expect(state.workers.get('w')?.phase).toBe('READY')
  })

  test('[CHN-31, WRK-44] that has ended is not forgotten by a queue that rests', () => {
    let state = idle(NO_TAKES)
    takeStandingPing(at(state, P), HOLDER, { listed: new Set(), sdkVersion: null, unhealthy: null })
    for (const nowMs of [60_000, 120_000]) {
      state = loaded(state, nowMs, true)
      state.unheardHosts = () => new Map()
      keepStanding(at(state, nowMs), 'h', [HOLDER])
      applyDeadlines(at(state, nowMs))
    }
    expect(state.workers.get('w')).toMatchObject({ phase: 'FAILED' })
  })

  test('[CHN-31, SCALE] an idle time survives the rest of the queue, to the minute', () => {
    const state = idle(NO_TAKES)
    state.workers.save(workerIn('READY', 'w', { lastSeenAtMs: 0, lastTakeAtMs: 61_000, idleSinceMs: null, hostId: 'h' }))
    state.meta.add('completed', 1, 90_000)
    expect(loaded(state, 500_000, true).workers.get('w')).toMatchObject({ idleSinceMs: 120_000 })
    state.meta.add('completed', 1, 300_000)
    expect(loaded(state, 500_000, true).workers.get('w'), 'not before its last job').toMatchObject({ idleSinceMs: 300_000 })
    expect(loaded(state, 500_000, false).workers.get('w'), 'not after a restart').toMatchObject({ idleSinceMs: 500_000 })
  })
})
