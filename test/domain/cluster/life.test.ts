import {
  type Answers,
  ask,
  type Check,
  type ClusterState,
  decideCluster,
  MAX_PLACES,
  type Member,
  PLACE_PATIENCE_MS,
  PREPARE_PATIENCE_MS,
  REACH_PATIENCE_MS,
  takesMember,
  triedAfter,
} from '../../../src/domain/cluster/life.ts'
import { describe, expect, it } from '../../support/unit.ts'

const NOW = 1_000_000

function member(rank: number, change: Partial<Member> = {}): Member {
  return {
    id: `m${rank}`,
    rank,
    hostId: `h${rank}`,
    generation: 1,
    status: 'PROVISIONING',
    hostLost: false,
    hostDraining: false,
    readyGeneration: 0,
    triedHosts: [],
    statusReason: null,
    changedAtMs: NOW,
    ...change,
  }
}
const running = (rank: number, change: Partial<Member> = {}) =>
  member(rank, { status: 'RUNNING', readyGeneration: 1, triedHosts: null, ...change })
const state = (change: Partial<ClusterState> = {}): ClusterState => ({
  isDeleted: false,
  onHostLoss: 'WAIT',
  checkNumber: 1,
  holdsHosts: true,
  ...change,
})
/** Answers of hosts that their members reach all others, except for the gaps. */
const answers = (members: Member[], number = 1, gaps: { from: string; to: string; reason: string }[] = []): Answers =>
  members.map(({ id, hostId }) => {
    const own = gaps.filter(({ from }) => from === id)
    return { hostId, report: { overlayId: 'c', check: number, ready: own.length > 0 ? [] : [id], gaps: own } }
  })
const steps = (cluster: ClusterState, members: Member[], check: Check | null, heard: Answers = [], nowMs = NOW) =>
  decideCluster(cluster, members, check, heard, nowMs).steps.map((step) =>
    'member' in step
      ? [step.kind, step.member.id]
      : step.kind === 'release'
        ? [step.kind, ...step.members.map(({ id }) => id)]
        : [step.kind],
  )

describe('the start', () => {
  const all = [member(0), member(1), member(2)]
  const check = ask(all, 1, NOW)

  it('[CLU-14] no member starts before all are ready, and then all start', () => {
    expect(steps(state(), all, null)).toEqual([['ask']])
    expect(steps(state(), all, check)).toEqual([])
    expect(steps(state(), all, check, answers(all.slice(0, 2)))).toEqual([])
    expect(steps(state(), all, check, answers(all))).toEqual([['release', 'm0', 'm1', 'm2']])
  })

  it('[CLU-14] a check has a number that no host has seen', () => {
    const [step] = decideCluster(state({ checkNumber: 5 }), all, null, [], NOW).steps
    expect(step).toEqual({ kind: 'ask', check: ask(all, 6, NOW) })
  })

  it('[CLU-14] answers to another check, or of another host, are ignored', () => {
    expect(steps(state(), all, ask(all, 2, NOW), answers(all, 1))).toEqual([])
    const moved = [member(0), member(1), member(2, { hostId: 'h9', generation: 2 })]
    expect(steps(state(), moved, check, answers(all))).toEqual([['ask']])
    // Started anew on the same host, as after a suspension.
    expect(steps(state(), [member(0), member(1), member(2, { generation: 2 })], check, answers(all))).toEqual([['ask']])
    expect(steps(state(), moved, ask(moved, 2, NOW), answers(all, 2))).toEqual([])
  })

  it('[CLU-21] an unreachable pair is checked again, and then one member of it is named as the cause', () => {
    const gaps = [
      { from: 'm0', to: 'm2', reason: 'no answer' },
      { from: 'm2', to: 'm0', reason: 'no answer' },
    ]
    const heard = answers(all, 1, gaps)
    const asked = { ...check, askedAtMs: NOW - 6_000 }
    expect(steps(state(), all, asked, heard)).toEqual([['ask']])
    const decided = decideCluster(state(), all, { ...asked, troubledSinceMs: NOW - REACH_PATIENCE_MS }, heard, NOW)
    expect(decided.steps).toEqual([{ kind: 'fail', member: all[2], reason: 'm0 does not reach m2: no answer' }])
  })

  it('[CLU-21] no member is blamed before every host has answered', () => {
    const gaps = [{ from: 'm0', to: 'm2', reason: 'no answer' }]
    const troubled = { ...check, troubledSinceMs: NOW - REACH_PATIENCE_MS, askedAtMs: 0 }
    expect(steps(state(), all, troubled, answers(all.slice(0, 2), 1, gaps))).toEqual([])
  })

  it('[CLU-21] a host that never answers fails its members after an hour', () => {
    const late = { ...check, sinceMs: NOW - PREPARE_PATIENCE_MS }
    expect(steps(state(), all, late, answers(all.slice(0, 2)))).toEqual([['fail', 'm2']])
  })
})

describe('members that cannot start', () => {
  const failed = (change: Partial<Member> = {}) => member(1, { status: 'ERROR', statusReason: 'no such image', ...change })

  it('[CLU-16] move to another host, and no other member moves', () => {
    expect(steps(state(), [member(0), failed()], null)).toEqual([['move', 'm1']])
    expect(steps(state(), [running(0), failed({ triedHosts: ['a'] })], null)).toEqual([['move', 'm1']])
  })

  it('[CLU-16] are not those that end after they have run', () => {
    expect(steps(state(), [running(0), running(1, { status: 'ERROR' })], null)).toEqual([])
    expect(steps(state(), [running(0), running(1, { status: 'EXITED' })], null)).toEqual([])
  })

  it('[CLU-17] cause all waiting members to be given up after a number of hosts or a time, the causing one last', () => {
    const tried = Array.from({ length: MAX_PLACES - 1 }, (_, index) => `t${index}`)
    const expected = [
      ['giveUp', 'm0'],
      ['giveUp', 'm2'],
      ['giveUp', 'm1'],
    ]
    expect(steps(state(), [member(0), failed({ triedHosts: tried }), member(2)], null)).toEqual(expected)
    expect(steps(state(), [member(0), failed({ changedAtMs: NOW - PLACE_PATIENCE_MS }), member(2)], null)).toEqual(expected)
    expect(steps(state(), [running(0), failed({ triedHosts: tried })], null)).toEqual([['giveUp', 'm1']])
  })

  it('[CLU-17] giving up continues after an interruption, and includes members of lost hosts', () => {
    const dead = member(0, { status: 'ERROR', triedHosts: null, statusReason: 'member 1 cannot start: refused' })
    const lost = member(2, { status: 'ERROR', hostLost: true })
    expect(decideCluster(state(), [dead, member(1), lost], null, [], NOW).steps).toEqual([
      { kind: 'giveUp', member: member(1), reason: 'member 1 cannot start: refused' },
      { kind: 'giveUp', member: lost, reason: 'member 1 cannot start: refused' },
    ])
  })

  it('[CLU-17] a stop by the platform is no failure', () => {
    const statusReason = 'stopped: the account is suspended by the operator'
    expect(steps(state(), [member(0, { status: 'EXITED', statusReason }), member(1, { status: 'EXITED', statusReason })], null)).toEqual([])
  })
})

describe('the possible hosts of a member', () => {
  const others = [running(0), running(2, { hostId: 'h0' })]
  const takes = (id: string, overlay: 'none' | 'local' | 'routed', tried: string[] = []) =>
    takesMember({ id, overlay }, member(1, { triedHosts: tried }), others)

  it('[CLU-15] [CLU-16] exclude its own and those where it failed, and are reachable for the others', () => {
    expect([takes('h1', 'routed'), takes('h9', 'routed', ['h9']), takes('h9', 'routed', ['h8'])]).toEqual([false, false, true])
    expect([takes('h9', 'local'), takes('h0', 'local'), takes('h9', 'none')]).toEqual([false, true, false])
  })

  it('[CLU-16] do not count a lost host as one where it failed', () => {
    expect(triedAfter(member(1, { triedHosts: ['a'] }))).toEqual(['a', 'h1'])
    expect(triedAfter(member(1, { triedHosts: ['a'], hostLost: true }))).toEqual(['a'])
    expect(triedAfter(running(1, { hostLost: true }))).toEqual([])
  })
})

describe('lost hosts', () => {
  const lost = (change: Partial<Member> = {}) => running(1, { status: 'ERROR', hostLost: true, ...change })

  it('[CLU-18] a member waits for its host, or is replaced when that was requested; others continue', () => {
    expect(steps(state(), [running(0), lost()], null)).toEqual([])
    expect(steps(state({ onHostLoss: 'REPLACE' }), [running(0), lost()], null)).toEqual([['move', 'm1']])
  })

  it('[CLU-18] a member that has never run does not wait', () => {
    expect(steps(state(), [member(0), lost({ triedHosts: [], readyGeneration: 0 })], null)).toEqual([['move', 'm1']])
  })

  it('[CLU-18] a replaced member starts once it reaches the present members', () => {
    const members = [running(0), lost(), member(2, { generation: 2, status: 'STARTING', readyGeneration: 1 })]
    const gaps = [{ from: 'm2', to: 'm1', reason: 'no answer' }]
    const there = members.filter(({ hostLost }) => !hostLost)
    expect(steps(state(), members, ask(members, 1, NOW), answers(there, 1, gaps))).toEqual([['release', 'm2']])
  })
})

describe('drained hosts', () => {
  const leaving = (rank: number) => running(rank, { hostDraining: true })
  const REPLACE = state({ onHostLoss: 'REPLACE' })

  it('[CLU-25] keep their members, unless the cluster replaces them: one at a time, while no member waits', () => {
    const all = [running(0), leaving(1), leaving(2)]
    expect(steps(state(), all, ask(all, 1, NOW))).toEqual([])
    expect(steps(REPLACE, all, ask(all, 1, NOW))).toEqual([['move', 'm1']])
    const moved = member(1, { generation: 2, hostId: 'h9' })
    const now = [running(0), moved, leaving(2)]
    expect(steps(REPLACE, now, ask(all, 1, NOW))).toEqual([['ask']])
    expect(steps(REPLACE, now, ask(now, 2, NOW), answers(now, 2))).toEqual([['release', 'm1']])
  })

  it('[CLU-25] do not delay a start, and do not count as hosts where a member failed', () => {
    const all = [member(0), member(1, { hostDraining: true })]
    expect(steps(REPLACE, all, ask(all, 1, NOW), answers(all))).toEqual([['release', 'm0', 'm1']])
    expect(triedAfter(leaving(1))).toEqual([])
    expect(triedAfter(member(1, { status: 'ERROR', hostDraining: true }))).toEqual(['h1'])
  })
})

describe('the end', () => {
  it('[CLU-19] terminates all members, and forgets the cluster when hosts have released them', () => {
    expect(steps(state({ isDeleted: true }), [member(0), running(1)], null)).toEqual([
      ['terminate', 'm0'],
      ['terminate', 'm1'],
    ])
    expect(steps(state({ isDeleted: true }), [], null)).toEqual([])
    expect(steps(state({ isDeleted: true, holdsHosts: false }), [], null)).toEqual([['forget']])
    expect(steps(state({ holdsHosts: false }), [], null)).toEqual([['forget']])
  })
})
