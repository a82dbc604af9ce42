import { type DeadlinesRequest, decideDeadline, nextDeadlineMs, planDeadlines, type TimedPod } from '../../../src/domain/pod/deadlines.ts'
import { makePod } from '../../support/pods/pod-state.ts'
import { describe, expect, it } from '../../support/unit.ts'

const NOW = Date.parse('2026-06-01T12:00:00Z')
const at = (seconds: number) => new Date(NOW + seconds * 1000).toISOString()
const timed = (change: Partial<TimedPod> = {}): TimedPod => ({ ...makePod(change), stopAfterMs: null, terminateAfterMs: null, ...change })

describe('the times of a pod', () => {
  it.each<[DeadlinesRequest, number | null, number | null]>([
    [{}, 5_000, 9_000],
    [{ stopAfter: null }, null, 9_000],
    [{ stopAfter: null, terminateAfter: null }, null, null],
    [{ stopAfter: at(3) }, 3_000, 9_000],
    [{ stopAfter: at(8.999), terminateAfter: '2026-06-01T14:00:20.500+02:00' }, 8_000, 20_000],
  ])('[POD-60] %j: named ones are taken in whole seconds, null clears, others stay', (body, stop, terminate) => {
    const present = { stopAfterMs: NOW + 5_000, terminateAfterMs: NOW + 9_000 }
    const shift = (ms: number | null) => ms && NOW + ms
    expect(planDeadlines(present, body, NOW)).toEqual({
      ok: true,
      deadlines: { stopAfterMs: shift(stop), terminateAfterMs: shift(terminate) },
    })
  })

  it.each<[DeadlinesRequest, string]>([
    [{ stopAfter: at(0) }, 'stopAfter must be later than now, which is 2026-06-01T12:00:00Z'],
    [{ stopAfter: at(0.9) }, 'stopAfter must be later than now, which is 2026-06-01T12:00:00Z'],
    [{ terminateAfter: at(-1) }, 'terminateAfter must be later than now, which is 2026-06-01T12:00:00Z'],
    [{ terminateAfter: at(5) }, 'terminateAfter must be later than stopAfter; leave stopAfter out, or send null'],
    [{ stopAfter: at(7), terminateAfter: at(6) }, 'terminateAfter must be later than stopAfter'],
  ])('[POD-61] %j is refused', (body, detail) => {
    const refused = planDeadlines({ stopAfterMs: NOW + 5_000, terminateAfterMs: null }, body, NOW)
    expect(refused).toEqual({ ok: false, problem: expect.objectContaining({ key: 'badRequest', detail: expect.stringContaining(detail) }) })
  })

  it('[POD-61] a time that has passed, and stays because the pod is locked, refuses no other change', () => {
    const present = { stopAfterMs: NOW - 5_000, terminateAfterMs: null }
    expect(planDeadlines(present, { terminateAfter: at(5) }, NOW)).toMatchObject({ ok: true })
  })

  it.each<[Partial<TimedPod>, number | null]>([
    [{}, null],
    [{ stopAfterMs: 5, terminateAfterMs: 9 }, 5],
    [{ stopAfterMs: 5, terminateAfterMs: 9, locked: true }, 9],
    [{ stopAfterMs: 5, locked: true }, null],
    [{ terminateAfterMs: 9 }, 9],
    [{ stopAfterMs: 5, terminateAfterMs: 9, status: 'TERMINATED' }, null],
  ])('[POD-62] [POD-63] of %j the next is %j', (change, next) => {
    expect(nextDeadlineMs(timed(change))).toBe(next)
  })
})

describe('a time that has come', () => {
  const STOP = NOW - 1_000
  const due = (change: Partial<TimedPod>) => timed({ stopAfterMs: STOP, ...change })

  it('[POD-62] is not there a millisecond before', () => {
    expect(decideDeadline(timed({ stopAfterMs: NOW }), NOW - 1)).toBeNull()
    expect(decideDeadline(timed(), NOW)).toBeNull()
  })

  it('[POD-62] stops a pod that runs, once, and ends what is charged', () => {
    const change = decideDeadline(due({ terminateAfterMs: NOW + 1 }), NOW)
    expect(change).toEqual({
      pod: {
        ...due({}),
        status: 'EXITED',
        statusReason: 'stopped by stopAfter 2026-06-01T11:59:59Z',
        version: 8,
        ports: [],
        startedAtMs: null,
        chargedFromMs: null,
        changedAtMs: NOW,
        stopAfterMs: null,
        terminateAfterMs: NOW + 1,
      },
      usage: { startedAtMs: 1_000, endedAtMs: NOW },
    })
    expect(change && decideDeadline(change.pod, NOW)).toBeNull()
  })

  it.each<[string, Partial<TimedPod>]>([
    ['one that starts', { status: 'STARTING' }],
    ['one that is being placed', { status: 'PROVISIONING' }],
    ['one whose host is lost: it does not go on when that returns', { status: 'ERROR', hostLost: true }],
  ])('[POD-62] stops %s', (_what, change) => {
    expect(decideDeadline(due(change), NOW)?.pod).toMatchObject({ status: 'EXITED', hostLost: false, stopAfterMs: null })
  })

  it.each<Partial<TimedPod>>([{ status: 'EXITED' }, { status: 'ERROR', statusReason: 'no such image' }])(
    '[POD-64] has no effect in %j: it is cleared, and a later start is not undone',
    (change) => {
      const pod = due(change)
      expect(decideDeadline(pod, NOW)).toEqual({ pod: { ...pod, stopAfterMs: null, version: 8 }, usage: null })
    },
  )

  it('[POD-63] does not stop a locked pod until that is unlocked', () => {
    expect(decideDeadline(due({ locked: true }), NOW)).toBeNull()
    expect(decideDeadline(due({ locked: false }), NOW)?.pod.status).toBe('EXITED')
  })

  it.each<Partial<TimedPod>>([{}, { locked: true }, { status: 'EXITED' }, { status: 'ERROR', hostLost: true }, { stopAfterMs: null }])(
    '[POD-62] [POD-63] terminates %j, and a stop due at the same time is not reported',
    (change) => {
      const ended = decideDeadline(due({ terminateAfterMs: NOW, ...change }), NOW)
      expect(ended?.pod).toMatchObject({
        status: 'TERMINATED',
        statusReason: 'terminated by terminateAfter 2026-06-01T12:00:00Z',
        stopAfterMs: null,
        terminateAfterMs: null,
        hostLost: false,
      })
      expect(ended && decideDeadline(ended.pod, NOW + 1)).toBeNull()
    },
  )
})
