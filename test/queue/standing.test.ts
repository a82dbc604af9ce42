import { describe, expect, test } from 'vitest'
import { formatJobId } from '../../src/domain/job/id.ts'
import { submitJob } from '../../src/domain/job/job.ts'
import { leaseJob } from '../../src/domain/job/lease.ts'
import { beginCommit, endCommit } from '../../src/queue/commit.ts'
import { applyDeadlines, nextDueAtMs } from '../../src/queue/deadlines.ts'
import { cancelJob } from '../../src/queue/jobs.ts'
import { takePing, takeStandingPing } from '../../src/queue/pings.ts'
import { endHostStanding, endStanding, keepStanding, WATCH_MS } from '../../src/queue/standing.ts'
import { Effects, type Tx } from '../../src/queue/tx.ts'
import { applyHostEvent } from '../../src/queue/workers/host-events.ts'
import { MemoryState, NO_TAKES } from '../support/queue/memory-state.ts'
import { workerIn } from '../support/queue/workers.ts'

const P = 10_000
const TERM = 4 * P
const HOLDER = { workerId: 'w', boot: 'b' }
const NO_CALLS = new Set<string>()
const FAR_MS = 100_000_000

/** A queue whose worker runs a job since 0, and whose agent answers for its pings since 10 s. */
function watched(): MemoryState {
  const state = new MemoryState()
  const seq = state.jobs.nextSequence()
  const submitted = submitJob({
    ...{
      seq,
      id: formatJobId(seq, false, state.meta.idMask(), state.randomBytes(10)),
      lowPriority: false,
      webhook: null,
      hasS3Config: false,
    },
    ...{ createdAtMs: 0, ttlAtMs: FAR_MS, executionTimeoutMs: FAR_MS, retentionMs: 1 },
  })
  state.jobs.insert(submitted)
  state.jobs.save(submitted, leaseJob(submitted, HOLDER, 0, { pingIntervalMs: P }))
  state.workers.save(workerIn('READY', 'w', { lastSeenAtMs: 0, hostId: 'h' }))
  takeStandingPing(at(state, P), HOLDER, ping(state))
  endCommit(at(state, P), false)
  return state
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
function loaded(state: MemoryState, nowMs: number, channelIsOpen: boolean): MemoryState {
  const next = state.restarted(NO_TAKES)
  next.unheardHosts = () => new Set(channelIsOpen ? ['h'] : [])
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
    keepStanding(at(state, 500_000), 'h', [HOLDER])
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

  test('[CHN-31, SCALE] an idle time survives the rest of the queue, to the minute', () => {
    const state = idle(NO_TAKES)
    state.workers.save(workerIn('READY', 'w', { lastSeenAtMs: 0, lastTakeAtMs: 61_000, idleSinceMs: null, hostId: 'h' }))
    expect(loaded(state, 500_000, true).workers.get('w')).toMatchObject({ idleSinceMs: 120_000 })
    expect(loaded(state, 500_000, false).workers.get('w'), 'not after a restart').toMatchObject({ idleSinceMs: 500_000 })
  })
})
