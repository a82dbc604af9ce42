/** The life of a pod: which action is valid when, and what actions, reports of hosts and lost hosts make of it. Pure. */

import type { PodAction, PodStatus } from '../../contract/enums.ts'

export interface PortMapping {
  private: number
  public: number
  type: string
}

/** What transitions read and write of a pod. Times in milliseconds. */
export interface PodState {
  status: PodStatus
  version: number
  /** Number of the present container; reports of former ones say nothing about the pod. */
  generation: number
  /** The present container goes on with what the former one wrote. */
  keepsDisk: boolean
  /** The next container must not go on with what a former one wrote: it was to be wiped, its configuration has changed, or it is gone. */
  diskStale: boolean
  /** ERROR because nobody hears of its host: the container may well run, and the pod recovers when the host returns. */
  hostLost: boolean
  locked: boolean
  /** Why the pod is where it is, when it did not get there by the user's wish. */
  statusReason: string | null
  ports: readonly PortMapping[]
  /** When the present container started, as far as it is known to have run; a host that is lost does not change that. */
  startedAtMs: number | null
  /** Start of the RUNNING interval that is still open; null when nothing is charged. */
  chargedFromMs: number | null
  /** From when on the disks of a pod that does not run are charged; null while it runs, and where they cost nothing. */
  diskChargedFromMs: number | null
  /** What they cost while it runs and while it is stopped, in billionths of a USD an hour. */
  diskNanosPerHour: number
  stoppedDiskNanosPerHour: number
  changedAtMs: number
}

/** A closed interval of what was charged, half-open: the pod ran (POD-19, P8), or only its disks were kept (BIL-8). */
export interface UsageInterval {
  startedAtMs: number
  endedAtMs: number
}

export interface PodChange<Pod extends PodState> {
  pod: Pod
  /** To be written in the transaction of the change. */
  usage: UsageInterval | null
}

export type ActionOutcome<Pod extends PodState> = { ok: true; change: PodChange<Pod> } | { ok: false; detail: string; locked: boolean }

/** What a host says of a pod's container. `atMs`: when it happened, by the plane's clock as the host knows it. */
export interface ContainerReport {
  generation: number
  state: 'pulling' | 'starting' | 'running' | 'exited' | 'error' | 'gone'
  reason: string | null
  atMs: number
  ports?: readonly PortMapping[] | undefined
}

const MAX_PORT = 65_535
/** As many as a pod may ask for (PP-91). */
const MAX_MAPPINGS = 64

const ACTIONS: Readonly<Record<PodStatus, readonly PodAction[]>> = {
  PROVISIONING: ['stop', 'terminate'],
  STARTING: ['stop', 'terminate'],
  RUNNING: ['stop', 'restart', 'terminate'],
  EXITED: ['start', 'terminate'],
  ERROR: ['start', 'terminate'],
  TERMINATED: [],
}

/** A restart wipes the container disk: it is a reset. */
const BARRED_BY_LOCK: readonly PodAction[] = ['stop', 'restart']

/** Where a pod is whose container is to run, besides one whose host is lost. */
export const TO_RUN: readonly PodStatus[] = ['PROVISIONING', 'STARTING', 'RUNNING']

/** Whether a pod's container is to run: then it holds its GPUs, vCPUs and memory. */
export function isToRun({ status, hostLost }: Pick<PodState, 'status' | 'hostLost'>): boolean {
  return TO_RUN.includes(status) || hostLost
}

/** The one transition table (POD-14); a locked pod can be neither stopped nor reset (POD-15). */
export function actionsOf({ status, locked }: Pick<PodState, 'status' | 'locked'>): PodAction[] {
  return ACTIONS[status].filter((action) => !(locked && BARRED_BY_LOCK.includes(action)))
}

/** What a user's action makes of a pod (POD-14, POD-15, POD-19), or why it is not valid now. */
export function decideAction<Pod extends PodState>(pod: Pod, action: PodAction, nowMs: number): ActionOutcome<Pod> {
  if (!actionsOf(pod).includes(action)) {
    const locked = pod.locked && BARRED_BY_LOCK.includes(action)
    return { ok: false, locked, detail: locked ? 'pod is locked' : `action ${action} is not valid while the pod is ${pod.status}` }
  }
  return { ok: true, change: leaveRunning(pod, nowMs, { ...AFTER_ACTION[action](pod), hostLost: false }) }
}

/** `reset` of API v1 (LEG-6): the pod stops, its container disk is wiped, it starts. */
export function decideReset<Pod extends PodState>(pod: Pod, nowMs: number): ActionOutcome<Pod> {
  if (pod.locked) return { ok: false, locked: true, detail: 'pod is locked' }
  const isDown = actionsOf(pod).includes('start')
  return decideAction({ ...pod, diskStale: true }, isDown ? 'start' : 'restart', nowMs)
}

/** The operator suspends or resumes the account: stops what is to run, locked or not, and starts what was stopped so. Null when neither is needed. */
export function decideSuspension<Pod extends PodState>(pod: Pod, isSuspended: boolean, nowMs: number): PodChange<Pod> | null {
  if (!isSuspended) {
    if (pod.status !== 'EXITED' || pod.statusReason !== ACCOUNT_SUSPENDED) return null
    return leaveRunning(pod, nowMs, { ...AFTER_ACTION.start(pod), hostLost: false })
  }
  return isToRun(pod) ? decideStop(pod, ACCOUNT_SUSPENDED, nowMs) : null
}

/** The platform stops a pod that is to run, wherever it is on its way, and says why. */
export function decideStop<Pod extends PodState>(pod: Pod, statusReason: string, nowMs: number): PodChange<Pod> {
  return leaveRunning(pod, nowMs, { status: 'EXITED', statusReason, hostLost: false })
}

/** The platform terminates a pod, locked or not, and says why. */
export function decideTermination<Pod extends PodState>(pod: Pod, statusReason: string, nowMs: number): PodChange<Pod> {
  return leaveRunning(pod, nowMs, { status: 'TERMINATED', statusReason, hostLost: false })
}

/** Why a pod of a suspended account is stopped (PP-214). */
export const ACCOUNT_SUSPENDED = 'stopped: the account is suspended by the operator'

/** A PATCH that changes the container: a running pod gets a new one, a stopped one with its next start (POD-13). */
export function decideRecreate<Pod extends PodState>(pod: Pod, nowMs: number): PodChange<Pod> {
  // A lost host makes it when it returns; until then the pod goes on saying so.
  if (pod.hostLost) {
    const changedAtMs = Math.max(nowMs, pod.changedAtMs)
    return changed(pod, { generation: pod.generation + 1, keepsDisk: false, diskStale: true, startedAtMs: null, changedAtMs })
  }
  const change = isToRun(pod) ? { ...nextContainer(pod, false), hostLost: false } : { diskStale: true }
  return leaveRunning(pod, nowMs, change)
}

const AFTER_ACTION: Readonly<Record<PodAction, (pod: PodState) => Partial<PodState>>> = {
  start: (pod) => nextContainer(pod, !pod.diskStale),
  // The contract: the container disk is wiped on restart.
  restart: (pod) => nextContainer(pod, false),
  stop: () => ({ status: 'EXITED', statusReason: null }),
  terminate: () => ({ status: 'TERMINATED', statusReason: null }),
}

// Until the new container runs, a wiped disk stays stale: a start that failed must not bring the old one back.
function nextContainer(pod: PodState, keepsDisk: boolean): Partial<PodState> {
  return { status: 'STARTING', generation: pod.generation + 1, keepsDisk, diskStale: !keepsDisk, statusReason: null }
}

/** What a host's report makes of a pod; null when it changes nothing: old news, a repeat, or about a former container. */
export function decideReport<Pod extends PodState>(pod: Pod, report: ContainerReport, nowMs: number): PodChange<Pod> | null {
  if (report.generation !== pod.generation || pod.status === 'TERMINATED') return null
  const atMs = possibleTime(pod, report.atMs, nowMs)
  switch (report.state) {
    case 'pulling':
    case 'starting':
      return decideStarting(pod, report.reason, atMs)
    case 'running':
      return decideRunning(pod, (report.ports ?? []).filter(isPossiblePort).slice(0, MAX_MAPPINGS), atMs, nowMs)
    case 'exited':
      return isOver(pod) ? null : leaveRunning(pod, atMs, { status: 'EXITED', statusReason: report.reason, hostLost: false })
    case 'error':
      return isOver(pod) ? null : leaveRunning(pod, atMs, { status: 'ERROR', statusReason: report.reason, hostLost: false })
    case 'gone':
      return decideGone(pod, report.reason, atMs)
  }
}

/**
 * The pod goes on on another machine with an empty disk: its own is lost or is being emptied. Null when there is nothing to go on with.
 * `lastHeardMs`: when its own was last heard of.
 */
export function decideReplacement<Pod extends PodState>(pod: Pod, lastHeardMs: number, nowMs: number): PodChange<Pod> | null {
  if (!isToRun(pod)) return null
  const atMs = possibleTime(pod, lastHeardMs, nowMs)
  return leaveRunning(pod, atMs, { ...nextContainer(pod, false), hostLost: false }, nowMs)
}

/** A member of a cluster goes on on another machine, also when it could not be started on its own (CLU-16). */
export function decideElsewhere<Pod extends PodState>(pod: Pod, lastHeardMs: number, nowMs: number): PodChange<Pod> {
  return decideReplacement(pod, lastHeardMs, nowMs) ?? leaveRunning(pod, nowMs, { ...nextContainer(pod, false), hostLost: false })
}

/** It is to start nowhere any more (CLU-17). */
export function decideGivenUp<Pod extends PodState>(pod: Pod, statusReason: string, nowMs: number): PodChange<Pod> {
  return leaveRunning(pod, nowMs, { status: 'ERROR', statusReason, hostLost: false })
}

/** Its host is back before it was to start: it goes on waiting, which no report says (CLU-18). */
export function decideWaitsAgain<Pod extends PodState>(pod: Pod): PodChange<Pod> | null {
  return pod.hostLost ? changed(pod, { status: 'STARTING', hostLost: false, statusReason: null }) : null
}

/** The machine is lost for good as far as anybody can tell: the pod keeps its record and says why (POD-23). */
export function decideHostLost<Pod extends PodState>(pod: Pod, reason: string, lastHeardMs: number, nowMs: number): PodChange<Pod> | null {
  if (!isToRun(pod) || pod.hostLost) return null
  const atMs = possibleTime(pod, lastHeardMs, nowMs)
  const { pod: lost, usage } = leaveRunning(pod, atMs, { status: 'ERROR', statusReason: reason, hostLost: true })
  return { pod: { ...lost, startedAtMs: pod.startedAtMs }, usage }
}

/** Time in which nobody heard of a host. Milliseconds since the epoch. */
export interface Silence {
  fromMs: number
  toMs: number
}

/** Its host is heard of again before it was lost: the pod ran on, and the time between is not charged (POD-23). */
export function decideHeardAgain<Pod extends PodState>(pod: Pod, { fromMs, toMs }: Silence): PodChange<Pod> | null {
  const { chargedFromMs } = pod
  if (pod.status !== 'RUNNING' || chargedFromMs === null || chargedFromMs >= toMs) return null
  const usage = fromMs > chargedFromMs ? { startedAtMs: chargedFromMs, endedAtMs: fromMs } : null
  return { pod: changed(pod, { chargedFromMs: toMs, changedAtMs: Math.max(pod.changedAtMs, toMs) }).pod, usage }
}

/** An interval that ends while nobody hears of the host ends with its last sign of life (POD-23). Null since when: the host is heard of. */
export function cutAtSilence(usage: UsageInterval | null, silentSinceMs: number | null): UsageInterval | null {
  if (usage === null || silentSinceMs === null) return usage
  return { ...usage, endedAtMs: Math.max(usage.startedAtMs, Math.min(usage.endedAtMs, silentSinceMs)) }
}

// A reason says what a start waits for on its host (HOST-172).
function decideStarting<Pod extends PodState>(pod: Pod, statusReason: string | null, atMs: number): PodChange<Pod> | null {
  if (pod.status === 'PROVISIONING') return changed(pod, { status: 'STARTING', statusReason, changedAtMs: atMs })
  return pod.status === 'STARTING' && pod.statusReason !== statusReason ? changed(pod, { statusReason }) : null
}

function decideRunning<Pod extends PodState>(pod: Pod, ports: readonly PortMapping[], atMs: number, nowMs: number): PodChange<Pod> | null {
  if (isOver(pod)) return null
  if (pod.status === 'RUNNING') return samePorts(pod.ports, ports) ? null : changed(pod, { ports })
  // What passed while the host was lost is not charged.
  const chargedFromMs = pod.hostLost ? possibleTime(pod, nowMs, nowMs) : atMs
  const startedAtMs = pod.startedAtMs ?? atMs
  const running = { status: 'RUNNING', statusReason: null, ports, startedAtMs, chargedFromMs, changedAtMs: chargedFromMs } as const
  return changed(pod, { ...running, diskStale: false, hostLost: false })
}

// Whatever the container wrote went with it.
function decideGone<Pod extends PodState>(pod: Pod, reason: string | null, atMs: number): PodChange<Pod> | null {
  if (isOver(pod)) return pod.diskStale ? null : changed(pod, { diskStale: true })
  const statusReason = reason ?? 'its container was removed from its host'
  return leaveRunning(pod, atMs, { status: 'EXITED', statusReason, diskStale: true, hostLost: false })
}

/**
 * A host's clock may be wrong: nothing happens after its report has arrived. And nothing happens before the last transition, which another
 * isolate may have decided by a clock that is ahead of this one (PP-112).
 */
function possibleTime({ changedAtMs }: PodState, atMs: number, nowMs: number): number {
  return Math.max(changedAtMs, Math.floor(Math.min(atMs, nowMs)))
}

function isOver({ status, hostLost }: PodState): boolean {
  return status === 'EXITED' || (status === 'ERROR' && !hostLost)
}

/** A change that ends the interval that is charged, when there is one, and begins that of disks that stay. `atMs`: when the interval ends. */
function leaveRunning<Pod extends PodState>(pod: Pod, atMs: number, change: Partial<PodState>, changedAtMs = atMs): PodChange<Pod> {
  if (change.status === undefined) return changed(pod, change)
  const fromMs = pod.chargedFromMs ?? pod.diskChargedFromMs
  const usage = fromMs === null ? null : { startedAtMs: fromMs, endedAtMs: Math.max(atMs, fromMs) }
  const sinceMs = Math.max(changedAtMs, pod.changedAtMs)
  const diskChargedFromMs = isDiskCharged({ ...pod, ...change }) ? Math.max(sinceMs, usage?.endedAtMs ?? 0) : null
  const over = { ports: [], startedAtMs: null, chargedFromMs: null, diskChargedFromMs, changedAtMs: sinceMs }
  return { ...changed(pod, { ...change, ...over }), usage }
}

function changed<Pod extends PodState>(pod: Pod, change: Partial<PodState>): PodChange<Pod> {
  return { pod: { ...pod, ...change, version: pod.version + 1 }, usage: null }
}

/**
 * Whether only the disks of a pod are charged: it does not run, they cost something then, and its host is not lost (BIL-8). While it is being
 * started nothing is.
 */
export function isDiskCharged({ status, hostLost, stoppedDiskNanosPerHour }: PodState): boolean {
  return (status === 'EXITED' || status === 'ERROR') && !hostLost && stoppedDiskNanosPerHour > 0
}

// A host may say anything, and every answer about the pod repeats it.
function isPossiblePort({ private: inside, public: outside, type }: PortMapping): boolean {
  const isNumber = (port: number) => port >= 1 && port <= MAX_PORT
  return isNumber(inside) && isNumber(outside) && (type === 'http' || type === 'tcp')
}

function samePorts(a: readonly PortMapping[], b: readonly PortMapping[]): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}
