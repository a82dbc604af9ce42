import { decideIdleStop, type IdlePod, idleStopDueMs, nextIdleCheckMs, planIdleStop } from '../../../src/domain/pod/idle-stop.ts'
import type { PodState } from '../../../src/domain/pod/pod.ts'
import { makePod } from '../../support/pods/pod-state.ts'
import { describe, expect, it } from '../../support/unit.ts'

const NOW = Date.parse('2026-06-01T12:00:00Z')
const MINUTE_MS = 60_000
const HALF_HOUR = { afterSeconds: 1800, countsFromMs: 0 }
const idlePod = (change: Partial<PodState> = {}, idleStop = HALF_HOUR): PodState & IdlePod => ({ ...makePod(change), spec: { idleStop } })
const ago = (minutes: number) => NOW - minutes * MINUTE_MS

describe('idleStop after a request', () => {
  const present = { afterSeconds: 600, countsFromMs: 5 }
  it.each([
    [undefined, present],
    [null, undefined],
    [{ afterSeconds: 600 }, present],
    [{ afterSeconds: 900 }, { afterSeconds: 900, countsFromMs: NOW }],
  ])('[SPD-5] %j: a new value counts from now, null clears, an equal or omitted one stays', (asked, expected) => {
    expect(planIdleStop(present, asked, NOW)).toEqual(expected)
  })
})

describe('an idle pod', () => {
  it.each<[string, PodState & IdlePod, number | null, number | null]>([
    ['since it was last seen to work', idlePod(), ago(10), ago(-20)],
    ['since its container started: a restart counts anew', idlePod({ startedAtMs: ago(5) }), ago(40), ago(-25)],
    ['since it was asked for', idlePod({}, { ...HALF_HOUR, countsFromMs: ago(1) }), ago(40), ago(-29)],
    ['is busy or of unknown activity', idlePod(), null, null],
    ['is locked', idlePod({ locked: true }), ago(40), null],
    ['does not run', idlePod({ status: 'STARTING' }), ago(40), null],
    ['was not asked to', { ...makePod(), spec: {} }, ago(40), null],
  ])('[SPD-6] %s', (_title, pod, idleSinceMs, dueMs) => {
    expect(idleStopDueMs(pod, idleSinceMs)).toBe(dueMs)
  })

  it('[SPD-6] is stopped at that instant and not a millisecond before, once, and what is charged ends', () => {
    const pod = idlePod()
    expect(decideIdleStop(pod, ago(30) + 1, NOW)).toBeNull()
    const change = decideIdleStop(pod, ago(30), NOW)
    expect(change).toEqual({
      pod: {
        ...pod,
        status: 'EXITED',
        statusReason: 'stopped by idleStop: idle since 2026-06-01T11:30:00Z',
        version: 8,
        ports: [],
        startedAtMs: null,
        chargedFromMs: null,
        changedAtMs: NOW,
      },
      usage: { startedAtMs: 1_000, endedAtMs: NOW },
    })
    expect(change && decideIdleStop(change.pod, ago(30), NOW)).toBeNull()
  })

  it.each<[string, PodState & IdlePod, number | null, number | null]>([
    ['a busy pod is checked when it could have been idle for long enough', idlePod(), null, ago(-30)],
    ['a starting pod as well', idlePod({ status: 'STARTING' }), null, ago(-30)],
    ['an idle pod when its time comes', idlePod(), ago(10), ago(-20)],
    ['a locked one when its row changes', idlePod({ locked: true }), ago(10), null],
    ['a stopped one when its row changes', idlePod({ status: 'EXITED' }), null, null],
    ['a pod without idleStop is never checked', { ...makePod(), spec: {} }, ago(10), null],
  ])('[SPD-6] %s', (_title, pod, idleSinceMs, checkMs) => {
    expect(nextIdleCheckMs(pod, idleSinceMs, NOW)).toBe(checkMs)
  })
})
