import { describe, expect, test } from 'vitest'
import type { PodAction, PodStatus } from '../../../src/contract/enums.ts'
import {
  actionsOf,
  type ContainerReport,
  cutAtSilence,
  decideAction,
  decideHeardAgain,
  decideHostLost,
  decideRecreate,
  decideReplacement,
  decideReport,
  isToRun,
  type PodState,
} from '../../../src/domain/pod/pod.ts'
import { makePod } from '../../support/pods/pod-state.ts'

const STATUSES: readonly PodStatus[] = ['PROVISIONING', 'STARTING', 'RUNNING', 'EXITED', 'ERROR', 'TERMINATED']
const ACTIONS: readonly PodAction[] = ['start', 'stop', 'restart', 'terminate']
type ReportState = ContainerReport['state']
const REPORTS: readonly ReportState[] = ['pulling', 'starting', 'running', 'exited', 'error', 'gone']

function report(state: ReportState, change: Partial<ContainerReport> = {}): ContainerReport {
  return { generation: 3, state, reason: null, atMs: 5_000, ...change }
}

/** The change of a pod by an action; null when it is refused. */
function act(pod: PodState, action: PodAction, nowMs = 9_000) {
  const outcome = decideAction(pod, action, nowMs)
  return outcome.ok ? outcome.change : null
}

describe('actions', () => {
  /** The table of POD-14: the status that an action leads to. */
  const TABLE: Record<PodStatus, Partial<Record<PodAction, PodStatus>>> = {
    PROVISIONING: { stop: 'EXITED', terminate: 'TERMINATED' },
    STARTING: { stop: 'EXITED', terminate: 'TERMINATED' },
    RUNNING: { stop: 'EXITED', restart: 'STARTING', terminate: 'TERMINATED' },
    EXITED: { start: 'STARTING', terminate: 'TERMINATED' },
    ERROR: { start: 'STARTING', terminate: 'TERMINATED' },
    TERMINATED: {},
  }
  const cells = STATUSES.flatMap((status) => ACTIONS.map((action) => ({ status, action, next: TABLE[status][action] })))

  test.each(cells)('[POD-14] $action while $status: $next', ({ status, action, next }) => {
    const pod = makePod({ status })
    expect(actionsOf(pod).includes(action)).toBe(next !== undefined)
    const outcome = decideAction(pod, action, 9_000)
    if (next === undefined) {
      expect(outcome).toEqual({ ok: false, locked: false, detail: `action ${action} is not valid while the pod is ${status}` })
      return
    }
    if (!outcome.ok) throw new Error(outcome.detail)
    const isNewContainer = action === 'start' || action === 'restart'
    expect(outcome.change.pod).toMatchObject({ status: next, version: 8, generation: isNewContainer ? 4 : 3, startedAtMs: null, ports: [] })
    expect(outcome.change.usage).toEqual(status === 'RUNNING' ? { startedAtMs: 1_000, endedAtMs: 9_000 } : null)
  })

  test.each(STATUSES)('[POD-15] a locked pod that is %s can be neither stopped nor restarted, everything else is as before', (status) => {
    const [open, locked] = [makePod({ status }), makePod({ status, locked: true })]
    expect(actionsOf(locked)).toEqual(actionsOf(open).filter((action) => action !== 'stop' && action !== 'restart'))
    for (const action of ['stop', 'restart'] as const) {
      expect(decideAction(locked, action, 9_000)).toEqual({ ok: false, locked: true, detail: 'pod is locked' })
    }
    for (const action of actionsOf(locked)) expect(act(locked, action)?.pod, action).toEqual({ ...act(open, action)?.pod, locked: true })
  })

  test('[POD-14] a start goes on with the disk; a restart and a changed container begin with a new one', () => {
    const stopped = makePod({ status: 'EXITED' })
    expect(act(stopped, 'start')?.pod).toMatchObject({ keepsDisk: true, diskStale: false })
    expect(act(makePod(), 'restart')?.pod).toMatchObject({ keepsDisk: false, diskStale: true })
    const patched = decideRecreate(stopped, 9_000)
    expect(patched).toEqual({ pod: { ...stopped, diskStale: true, version: 8 }, usage: null })
    expect(act(patched.pod, 'start')?.pod).toMatchObject({ generation: 4, keepsDisk: false, diskStale: true })
  })

  test('[POD-14] a wiped disk stays wiped until the new container has run, however often it fails to start', () => {
    const restarted = act(makePod(), 'restart')?.pod as PodState
    const failed = decideReport(restarted, report('error', { generation: 4 }), 9_500)?.pod as PodState
    const again = act(failed, 'start')?.pod as PodState
    expect(again).toMatchObject({ generation: 5, keepsDisk: false })
    const running = decideReport(again, report('running', { generation: 5 }), 9_900)?.pod as PodState
    expect(act(act(running, 'stop')?.pod as PodState, 'start')?.pod).toMatchObject({ keepsDisk: true })
  })

  test.each(STATUSES.filter((status) => status !== 'TERMINATED'))('[POD-13] a changed container while %s', (status) => {
    const pod = makePod({ status })
    const isLive = status === 'PROVISIONING' || status === 'STARTING' || status === 'RUNNING'
    const { pod: next, usage } = decideRecreate(pod, 9_000)
    expect(next).toMatchObject({ version: 8, generation: isLive ? 4 : 3, status: isLive ? 'STARTING' : status, diskStale: true })
    expect(usage).toEqual(status === 'RUNNING' ? { startedAtMs: 1_000, endedAtMs: 9_000 } : null)
  })

  test('[POD-53] a changed container on a lost host is made when that returns; until then the pod says so', () => {
    const lost = makePod({ status: 'ERROR', hostLost: true, statusReason: 'not heard of' })
    const { pod: next, usage } = decideRecreate(lost, 9_000)
    expect(next).toEqual({ ...lost, generation: 4, keepsDisk: false, diskStale: true, version: 8, changedAtMs: 9_000 })
    expect(usage).toBeNull()
    expect(decideReport(next, report('running'), 9_500)).toBeNull()
    expect(decideReport(next, report('running', { generation: 4 }), 9_500)?.pod).toMatchObject({ status: 'RUNNING', hostLost: false })
  })
})

describe('reports', () => {
  type Next = PodStatus | 'stale' | null
  /** The status of a pod after a report of its present container; 'stale': only its disk is lost; null: nothing changes. */
  const TABLE: Record<PodStatus | 'LOST', Record<ReportState, Next>> = {
    PROVISIONING: { pulling: 'STARTING', starting: 'STARTING', running: 'RUNNING', exited: 'EXITED', error: 'ERROR', gone: 'EXITED' },
    STARTING: { pulling: null, starting: null, running: 'RUNNING', exited: 'EXITED', error: 'ERROR', gone: 'EXITED' },
    RUNNING: { pulling: null, starting: null, running: null, exited: 'EXITED', error: 'ERROR', gone: 'EXITED' },
    EXITED: { pulling: null, starting: null, running: null, exited: null, error: null, gone: 'stale' },
    ERROR: { pulling: null, starting: null, running: null, exited: null, error: null, gone: 'stale' },
    TERMINATED: { pulling: null, starting: null, running: null, exited: null, error: null, gone: null },
    LOST: { pulling: null, starting: null, running: 'RUNNING', exited: 'EXITED', error: 'ERROR', gone: 'EXITED' },
  }
  const cells = [...STATUSES, 'LOST' as const].flatMap((status) =>
    REPORTS.flatMap((state) => [2, 3, 4].map((generation) => ({ status, state, generation }))),
  )

  test.each(cells)('[POD-2, POD-23] $state of container $generation while $status runs its third', ({ status, state, generation }) => {
    const pod = status === 'LOST' ? makePod({ status: 'ERROR', hostLost: true }) : makePod({ status })
    const change = decideReport(
      pod,
      report(state, { generation, reason: state === 'pulling' || state === 'starting' ? null : 'why' }),
      9_000,
    )
    const next = generation === 3 ? TABLE[status][state] : null
    if (next === null) {
      expect(change).toBeNull()
      return
    }
    if (next === 'stale') {
      expect(change).toEqual({ pod: { ...pod, diskStale: true, version: 8 }, usage: null })
      return
    }
    const isOver = next === 'EXITED' || next === 'ERROR'
    expect(change?.pod).toMatchObject({ status: next, version: 8, generation: 3, hostLost: false, statusReason: isOver ? 'why' : null })
    expect(change?.pod.startedAtMs !== null).toBe(next === 'RUNNING')
    expect(change?.usage).toEqual(status === 'RUNNING' ? { startedAtMs: 1_000, endedAtMs: 5_000 } : null)
  })

  test('[HOST-172] a start that waits on its host has the reason, until it continues', () => {
    const waiting = decideReport(makePod({ status: 'PROVISIONING' }), report('pulling', { reason: 'the disk is full' }), 9_000)?.pod
    expect(waiting).toMatchObject({ status: 'STARTING', statusReason: 'the disk is full' })
    const starting = makePod({ status: 'STARTING', statusReason: 'the disk is full' })
    expect(decideReport(starting, report('pulling', { reason: 'the disk is full' }), 9_500)).toBeNull()
    expect(decideReport(starting, report('pulling', { reason: null }), 9_500)?.pod).toMatchObject({
      status: 'STARTING',
      statusReason: null,
    })
    expect(decideReport(starting, report('running', { reason: null }), 9_500)?.pod).toMatchObject({ status: 'RUNNING', statusReason: null })
    expect(decideReport(makePod(), report('pulling', { reason: 'late' }), 9_500)).toBeNull()
  })

  test('[POD-21] ports of a running pod may change, and only that is a change', () => {
    const ports = [{ private: 22, public: 30_022, type: 'tcp' }]
    const change = decideReport(makePod(), report('running', { ports }), 9_000)
    expect(change).toEqual({ pod: makePod({ ports, version: 8 }), usage: null })
    expect(decideReport(makePod({ ports }), report('running', { ports: [{ private: 22, public: 30_022, type: 'tcp' }] }), 9_000)).toBeNull()
  })

  test('[POD-23] a container that was removed took its disk with it, and that is the reason when there is no other', () => {
    expect(decideReport(makePod(), report('gone'), 9_000)?.pod).toMatchObject({
      diskStale: true,
      statusReason: 'its container was removed from its host',
    })
    expect(decideReport(makePod({ status: 'EXITED', diskStale: true }), report('gone'), 9_000)).toBeNull()
  })
})

describe('times', () => {
  const starting = makePod({ status: 'STARTING' })
  const startedBy = (atMs: number, nowMs: number) => decideReport(starting, report('running', { atMs }), nowMs)?.pod.startedAtMs

  test.each([
    { says: 'before the last transition', atMs: 999, startedAtMs: 1_000 },
    { says: 'with the last transition', atMs: 1_000, startedAtMs: 1_000 },
    { says: 'after it', atMs: 1_001, startedAtMs: 1_001 },
    { says: 'in the middle of a millisecond', atMs: 5_000.9, startedAtMs: 5_000 },
    { says: 'when its report arrives', atMs: 9_000, startedAtMs: 9_000 },
    { says: 'later than that', atMs: 9_001, startedAtMs: 9_000 },
  ])('[POD-70] a time of $says that a host reports is clamped to the possible range', ({ atMs, startedAtMs }) => {
    expect(startedBy(atMs, 9_000)).toBe(startedAtMs)
    const ended = decideReport(makePod(), report('exited', { atMs }), 9_000)
    expect(ended?.usage).toEqual({ startedAtMs: 1_000, endedAtMs: startedAtMs })
    expect(ended?.pod.changedAtMs).toBe(startedAtMs)
  })

  test('[P8] a plane whose clock is behind the one that decided last makes no interval overlap the one before', () => {
    expect(startedBy(500, 900)).toBe(1_000)
    expect(startedBy(5_000, 900)).toBe(1_000)
    expect(decideReport(makePod(), report('exited', { atMs: 500 }), 900)).toMatchObject({
      pod: { changedAtMs: 1_000 },
      usage: { startedAtMs: 1_000, endedAtMs: 1_000 },
    })
    expect(act(makePod(), 'stop', 900)).toMatchObject({ pod: { changedAtMs: 1_000 }, usage: { startedAtMs: 1_000, endedAtMs: 1_000 } })
    expect(decideHostLost(makePod(), 'x', 900, 900)).toMatchObject({ pod: { changedAtMs: 1_000 }, usage: { endedAtMs: 1_000 } })
    const lost = makePod({ status: 'ERROR', hostLost: true })
    expect(decideReport(lost, report('running', { atMs: 500 }), 900)?.pod).toMatchObject({ startedAtMs: 1_000, changedAtMs: 1_000 })
  })
})

describe('ports that a host reports', () => {
  const starting = makePod({ status: 'STARTING' })
  const taken = (ports: PodState['ports']) => decideReport(starting, report('running', { ports }), 9_000)?.pod.ports

  test.each([
    { private: 0, public: 30_000, type: 'tcp' },
    { private: 22, public: 65_536, type: 'tcp' },
    { private: 22, public: 30_000, type: 'udp' },
    { private: 22, public: 30_000, type: 'x'.repeat(100_000) },
  ])('[POD-45] are left out when they are no valid ports: $private, $public', (port) => {
    const good = { private: 65_535, public: 1, type: 'http' }
    expect(taken([port, good])).toEqual([good])
  })

  test('[POD-45] are 64 at most', () => {
    const ports = Array.from({ length: 65 }, (_, n) => ({ private: n + 1, public: 30_000 + n, type: 'tcp' }))
    expect(taken(ports)).toEqual(ports.slice(0, 64))
    expect(taken(ports.slice(0, 64))).toHaveLength(64)
  })
})

describe('a host that is lost', () => {
  test.each(STATUSES)('[POD-71] while %s: the pod keeps its record and gets the reason, unless it was not to run', (status) => {
    const pod = makePod({ status })
    const change = decideHostLost(pod, 'its host has not been heard of', 5_000, 9_000)
    if (!isToRun(pod)) {
      expect(change).toBeNull()
      return
    }
    expect(change?.pod).toMatchObject({
      status: 'ERROR',
      hostLost: true,
      statusReason: 'its host has not been heard of',
      generation: 3,
      version: 8,
      startedAtMs: pod.startedAtMs,
      chargedFromMs: null,
      changedAtMs: 5_000,
    })
    expect(change?.usage).toEqual(status === 'RUNNING' ? { startedAtMs: 1_000, endedAtMs: 5_000 } : null)
    expect(isToRun(change?.pod as PodState)).toBe(true)
    expect(decideHostLost(change?.pod as PodState, 'again', 5_000, 9_500)).toBeNull()
  })

  test.each([
    { lastHeardMs: 999, endedAtMs: 1_000 },
    { lastHeardMs: 1_001, endedAtMs: 1_001 },
    { lastHeardMs: 9_001, endedAtMs: 9_000 },
  ])('[POD-71] is charged up to its last report: $lastHeardMs', ({ lastHeardMs, endedAtMs }) => {
    expect(decideHostLost(makePod(), 'x', lastHeardMs, 9_000)?.usage).toEqual({ startedAtMs: 1_000, endedAtMs })
  })

  test('[POD-71] [POD-13] a changed container while its host is lost: it is the one that the host runs when it is back, and until then the pod says why', () => {
    const lost = decideHostLost(makePod(), 'its host is silent', 5_000, 9_000)?.pod as PodState
    const { pod: changed, usage } = decideRecreate(lost, 9_500)
    expect(changed).toMatchObject({ status: 'ERROR', hostLost: true, statusReason: 'its host is silent', generation: 4, diskStale: true })
    expect(usage).toBeNull()
    expect(decideReport(changed, report('running'), 20_000)).toBeNull()
    expect(decideReport(changed, report('running', { generation: 4 }), 20_000)).toMatchObject({
      pod: { status: 'RUNNING', hostLost: false, statusReason: null, startedAtMs: 9_500, chargedFromMs: 20_000 },
      usage: null,
    })
  })

  test('[POD-71] the time while it was lost is not charged, whatever it reports afterwards', () => {
    const lost = decideHostLost(makePod(), 'x', 5_000, 9_000)?.pod as PodState
    expect(decideReport(lost, report('running', { atMs: 1_000 }), 20_000)).toMatchObject({
      pod: { status: 'RUNNING', hostLost: false, startedAtMs: 1_000, chargedFromMs: 20_000, changedAtMs: 20_000, statusReason: null },
      usage: null,
    })
    expect(decideReport(lost, report('exited', { atMs: 8_000, reason: 'killed' }), 20_000)).toMatchObject({
      pod: { status: 'EXITED', hostLost: false, statusReason: 'killed' },
      usage: null,
    })
  })

  test('[POD-23] a container that started while its host was silent has the start time that the host reports', () => {
    const lost = decideHostLost(makePod({ status: 'STARTING' }), 'x', 5_000, 9_000)?.pod as PodState
    expect(decideReport(lost, report('running', { atMs: 6_000 }), 20_000)?.pod).toMatchObject({
      status: 'RUNNING',
      startedAtMs: 6_000,
      chargedFromMs: 20_000,
    })
  })

  test.each(STATUSES)('a replacement elsewhere of a pod that is %s', (status) => {
    const change = decideReplacement(makePod({ status, keepsDisk: true }), 5_000, 9_000)
    if (!isToRun({ status, hostLost: false })) {
      expect(change).toBeNull()
      return
    }
    expect(change?.pod).toMatchObject({
      status: 'STARTING',
      generation: 4,
      version: 8,
      keepsDisk: false,
      hostLost: false,
      startedAtMs: null,
    })
    expect(change?.usage).toEqual(status === 'RUNNING' ? { startedAtMs: 1_000, endedAtMs: 5_000 } : null)
  })
})

describe('a host that is silent for a while', () => {
  test('[POD-23] the container is the same, and the time between is not charged', () => {
    const heard = decideHeardAgain(makePod(), { fromMs: 5_000, toMs: 25_000 })
    expect(heard).toEqual({
      pod: makePod({ version: 8, startedAtMs: 1_000, chargedFromMs: 25_000, changedAtMs: 25_000 }),
      usage: { startedAtMs: 1_000, endedAtMs: 5_000 },
    })
    expect(decideHeardAgain(heard?.pod as PodState, { fromMs: 5_000, toMs: 25_000 })).toBeNull()
    expect(decideAction(heard?.pod as PodState, 'stop', 26_000)).toMatchObject({
      change: { usage: { startedAtMs: 25_000, endedAtMs: 26_000 } },
    })
  })

  test('[POD-23] a container that started during the silence is charged from the return on', () => {
    const begun = makePod({ startedAtMs: 7_000, chargedFromMs: 7_000 })
    expect(decideHeardAgain(begun, { fromMs: 5_000, toMs: 25_000 })).toMatchObject({
      pod: { startedAtMs: 7_000, chargedFromMs: 25_000 },
      usage: null,
    })
    expect(decideHeardAgain(makePod({ chargedFromMs: 25_000 }), { fromMs: 5_000, toMs: 25_000 })).toBeNull()
  })

  test.each(STATUSES.filter((status) => status !== 'RUNNING'))('[POD-23] nothing changes for a pod that is %s', (status) => {
    expect(decideHeardAgain(makePod({ status }), { fromMs: 5_000, toMs: 25_000 })).toBeNull()
  })

  test.each([
    { silentSinceMs: null, endedAtMs: 9_000 },
    { silentSinceMs: 9_500, endedAtMs: 9_000 },
    { silentSinceMs: 5_000, endedAtMs: 5_000 },
    { silentSinceMs: 500, endedAtMs: 1_000 },
  ])('[POD-23] an interval that ends while it is silent since $silentSinceMs ends at $endedAtMs', ({ silentSinceMs, endedAtMs }) => {
    expect(cutAtSilence({ startedAtMs: 1_000, endedAtMs: 9_000 }, silentSinceMs)).toEqual({ startedAtMs: 1_000, endedAtMs })
    expect(cutAtSilence(null, silentSinceMs)).toBeNull()
  })
})
