import { describe, expect, test } from 'vitest'
import { noteOfReport, noteOfTransition } from '../../../src/domain/pod/note.ts'
import type { PodState } from '../../../src/domain/pod/pod.ts'
import { makePod } from '../../support/pods/pod-state.ts'

const noted = (change: Partial<PodState> & { hostId?: string; spec?: unknown } = {}) => ({
  hostId: 'h1',
  spec: { image: 'a' },
  ...makePod(change),
})

describe('[LOG-5, LOG-17] lines that the plane adds to the log of a pod', () => {
  const next = { status: 'STARTING', generation: 4 } as const
  const lost = { status: 'ERROR', hostLost: true, statusReason: 'not heard of' } as const

  test.each<[string, Parameters<typeof noted>[0], Parameters<typeof noted>[0], string | null]>([
    ['stop', {}, { status: 'EXITED' }, 'stop: asked for'],
    ['stop while starting', { status: 'STARTING' }, { status: 'EXITED' }, 'stop: asked for'],
    ['terminate', { status: 'EXITED' }, { status: 'TERMINATED' }, 'terminate: asked for'],
    ['start', { status: 'EXITED' }, next, 'start: asked for'],
    ['start after a fault', { status: 'ERROR' }, next, 'start: asked for'],
    ['start although the host is lost', lost, next, 'start: asked for'],
    ['restart', {}, next, 'restart: asked for'],
    ['a changed container', {}, { ...next, spec: { image: 'b' } }, 'restart: its configuration was changed'],
    ['host lost', {}, lost, 'host lost: not heard of'],
    ['replaced', lost, { ...next, hostId: 'h2', statusReason: 'moved: lost' }, 'moved: lost; it starts with an empty container disk'],
    ['a change while stopped', { status: 'EXITED' }, { status: 'EXITED', diskStale: true }, null],
    ['a new name', {}, {}, null],
  ])('%s', (_, before, after, line) => {
    expect(noteOfTransition(noted(before), noted(after))).toBe(line)
  })

  test('a report is noted only when the host is back: its agent writes the other lines', () => {
    expect(noteOfReport(noted(lost), noted())).toBe('host is back: the container still runs')
    expect(noteOfReport(noted(lost), noted({ status: 'EXITED' }))).toBeNull()
    expect(noteOfReport(noted({ status: 'STARTING' }), noted())).toBeNull()
    expect(noteOfReport(noted(), noted({ status: 'EXITED' }))).toBeNull()
  })
})
