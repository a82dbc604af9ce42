/** State machine of a pod: which action is valid in which status, and the effects of actions, host reports and lost hosts. Pure. */

import type { PodAction, PodStatus } from '../../contract/enums.ts'

/** A port of a pod and the port of its host that leads to it. */
export interface PortMapping {
  private: number
  public: number
  type: string
}

/** Fields of a pod that transitions read and write. Times in milliseconds since the epoch. */
export interface PodState {
  status: PodStatus
  version: number
  /** Number of the present container; reports on previous containers do not change the pod. */
  generation: number
  /** The present container continues with the disk of the previous one. */
  keepsDisk: boolean
  /**
   * The next container must not reuse the disk of a previous one: a wipe was requested, the configuration has changed, or the disk is gone.
   */
  diskStale: boolean
  /** The status is ERROR because the host is silent: the container may still run, and the pod recovers when the host returns. */
  hostLost: boolean
  locked: boolean
  /** Reason for the status when no action of a user caused it. */
  statusReason: string | null
  ports: readonly PortMapping[]
  /** Start of the present container, if it has run; losing the host does not change it. */
  startedAtMs: number | null
  /** Start of the open charged RUNNING interval; null when none is open. */
  chargedFromMs: number | null
  /** Start of the open interval in which only the disks are charged; null while the pod runs, and where its disks cost nothing. */
  diskChargedFromMs: number | null
  /** Cost of the disks while the pod runs and while it is stopped, nano-USD per hour. */
  diskNanosPerHour: number
  stoppedDiskNanosPerHour: number
  changedAtMs: number
}

/** A closed, half-open charged interval: the pod ran (POD-19, P8), or only its disks were stored (BIL-8). */
export interface UsageInterval {
  startedAtMs: number
  endedAtMs: number
}

/** A pod after a transition, with the usage that it ends. */
export interface PodChange<Pod extends PodState> {
  pod: Pod
  /** To be written in the transaction of the change. */
  usage: UsageInterval | null
}

/** Outcome of an action of a user. `locked`: it is refused because the pod is locked. */
export type ActionOutcome<Pod extends PodState> = { ok: true; change: PodChange<Pod> } | { ok: false; detail: string; locked: boolean }

/** A host's report on a pod's container. `atMs`: time of the event, by the host's estimate of the plane's clock. */
export interface ContainerReport {
  generation: number
  state: 'pulling' | 'starting' | 'running' | 'exited' | 'error' | 'gone'
  reason: string | null
  atMs: number
  ports?: readonly PortMapping[] | undefined
}

const MAX_PORT = 65_535
/** Maximum number of ports that a pod may request (POD-45). */
const MAX_MAPPINGS = 64

const ACTIONS: Readonly<Record<PodStatus, readonly PodAction[]>> = {
  PROVISIONING: ['stop', 'terminate'],
  STARTING: ['stop', 'terminate'],
  RUNNING: ['stop', 'restart', 'terminate'],
  EXITED: ['start', 'terminate'],
  ERROR: ['start', 'terminate'],
  TERMINATED: [],
}

/** A restart wipes the container disk, so the lock bars it too. */
const BARRED_BY_LOCK: readonly PodAction[] = ['stop', 'restart']

/** Statuses of a pod whose container should run. A pod whose host is lost should run too, with status ERROR. */
export const TO_RUN: readonly PodStatus[] = ['PROVISIONING', 'STARTING', 'RUNNING']

/** Whether a pod's container should run; if so, the pod holds its GPUs, vCPUs and memory. */
export function isToRun({ status, hostLost }: Pick<PodState, 'status' | 'hostLost'>): boolean {
  return TO_RUN.includes(status) || hostLost
}

/** Valid actions by status, the one transition table (POD-14). A locked pod can be neither stopped nor reset (POD-15). */
export function actionsOf({ status, locked }: Pick<PodState, 'status' | 'locked'>): PodAction[] {
  return ACTIONS[status].filter((action) => !(locked && BARRED_BY_LOCK.includes(action)))
}

/** Change that a user's action makes (POD-14, POD-15, POD-19), or why the action is not valid. */
export function decideAction<Pod extends PodState>(pod: Pod, action: PodAction, nowMs: number): ActionOutcome<Pod> {
  if (!actionsOf(pod).includes(action)) {
    const locked = pod.locked && BARRED_BY_LOCK.includes(action)
    return { ok: false, locked, detail: locked ? 'pod is locked' : `action ${action} is not valid while the pod is ${pod.status}` }
  }
  return { ok: true, change: leaveRunning(pod, nowMs, { ...AFTER_ACTION[action](pod), hostLost: false }) }
}

/** `reset` of API v1 (LEG-6): stops the pod, wipes its container disk and starts it. */
export function decideReset<Pod extends PodState>(pod: Pod, nowMs: number): ActionOutcome<Pod> {
  if (pod.locked) return { ok: false, locked: true, detail: 'pod is locked' }
  const isDown = actionsOf(pod).includes('start')
  return decideAction({ ...pod, diskStale: true }, isDown ? 'start' : 'restart', nowMs)
}

/**
 * Change of a pod when the operator suspends or resumes its account: a suspension stops a pod that should run, locked or not; a resumption
 * starts a pod that the suspension stopped. Null when neither applies.
 */
export function decideSuspension<Pod extends PodState>(pod: Pod, isSuspended: boolean, nowMs: number): PodChange<Pod> | null {
  if (!isSuspended) {
    if (pod.status !== 'EXITED' || pod.statusReason !== ACCOUNT_SUSPENDED) return null
    return leaveRunning(pod, nowMs, { ...AFTER_ACTION.start(pod), hostLost: false })
  }
  return isToRun(pod) ? decideStop(pod, ACCOUNT_SUSPENDED, nowMs) : null
}

/** The platform stops a pod in any status, and records the reason. */
export function decideStop<Pod extends PodState>(pod: Pod, statusReason: string, nowMs: number): PodChange<Pod> {
  return leaveRunning(pod, nowMs, { status: 'EXITED', statusReason, hostLost: false })
}

/** The platform terminates a pod, locked or not, and records the reason. */
export function decideTermination<Pod extends PodState>(pod: Pod, statusReason: string, nowMs: number): PodChange<Pod> {
  return leaveRunning(pod, nowMs, { status: 'TERMINATED', statusReason, hostLost: false })
}

/** Status reason of a pod that is stopped because its account is suspended (DER-40). */
export const ACCOUNT_SUSPENDED = 'stopped: the account is suspended by the operator'

/** Applies a PATCH that changes the container: a running pod gets a new container, a stopped one with its next start (POD-13). */
export function decideRecreate<Pod extends PodState>(pod: Pod, nowMs: number): PodChange<Pod> {
  // A lost host makes the new container when it returns; until then the pod stays in ERROR.
  if (pod.hostLost) {
    const changedAtMs = Math.max(nowMs, pod.changedAtMs)
    return changed(pod, { generation: pod.generation + 1, keepsDisk: false, diskStale: true, startedAtMs: null, changedAtMs })
  }
  const change = isToRun(pod) ? { ...nextContainer(pod, false), hostLost: false } : { diskStale: true }
  return leaveRunning(pod, nowMs, change)
}

const AFTER_ACTION: Readonly<Record<PodAction, (pod: PodState) => Partial<PodState>>> = {
  start: (pod) => nextContainer(pod, !pod.diskStale),
  // The API contract: a restart wipes the container disk.
  restart: (pod) => nextContainer(pod, false),
  stop: () => ({ status: 'EXITED', statusReason: null }),
  terminate: () => ({ status: 'TERMINATED', statusReason: null }),
}

// Until the new container runs, a wiped disk stays stale: after a failed start the old disk must not come back.
function nextContainer(pod: PodState, keepsDisk: boolean): Partial<PodState> {
  return { status: 'STARTING', generation: pod.generation + 1, keepsDisk, diskStale: !keepsDisk, statusReason: null }
}

/** Change that a host's report makes; null when it makes none: an outdated or repeated report, or one on a previous container. */
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
 * Moves a pod to another host with an empty disk, because its own host is lost or drained. Null when the pod should not run. `lastHeardMs`:
 * last sign of life of its own host.
 */
export function decideReplacement<Pod extends PodState>(pod: Pod, lastHeardMs: number, nowMs: number): PodChange<Pod> | null {
  if (!isToRun(pod)) return null
  const atMs = possibleTime(pod, lastHeardMs, nowMs)
  return leaveRunning(pod, atMs, { ...nextContainer(pod, false), hostLost: false }, nowMs)
}

/** Moves a member of a cluster to another host, even when it is not to run at present, for instance after a failed start (CLU-16). */
export function decideElsewhere<Pod extends PodState>(pod: Pod, lastHeardMs: number, nowMs: number): PodChange<Pod> {
  return decideReplacement(pod, lastHeardMs, nowMs) ?? leaveRunning(pod, nowMs, { ...nextContainer(pod, false), hostLost: false })
}

/** Gives up starting a member of a cluster (CLU-17). */
export function decideGivenUp<Pod extends PodState>(pod: Pod, statusReason: string, nowMs: number): PodChange<Pod> {
  return leaveRunning(pod, nowMs, { status: 'ERROR', statusReason, hostLost: false })
}

/** The host of a cluster's member is back before the member was to start: the pod waits again, because no report says so (CLU-18). */
export function decideWaitsAgain<Pod extends PodState>(pod: Pod): PodChange<Pod> | null {
  return pod.hostLost ? changed(pod, { status: 'STARTING', hostLost: false, statusReason: null }) : null
}

/**
 * The host of a pod counts as lost for good: the pod retains its record and names the reason (POD-23). Null when the pod should not run, or
 * its host is lost already.
 */
export function decideHostLost<Pod extends PodState>(pod: Pod, reason: string, lastHeardMs: number, nowMs: number): PodChange<Pod> | null {
  if (!isToRun(pod) || pod.hostLost) return null
  const atMs = possibleTime(pod, lastHeardMs, nowMs)
  const { pod: lost, usage } = leaveRunning(pod, atMs, { status: 'ERROR', statusReason: reason, hostLost: true })
  return { pod: { ...lost, startedAtMs: pod.startedAtMs }, usage }
}

/** Interval without a sign of life from a host. Milliseconds since the epoch. */
export interface Silence {
  fromMs: number
  toMs: number
}

/**
 * The host of a pod reports again before it counted as lost: the pod has run on, and the silence is not charged (POD-23). For workers a
 * statement does this, `excuseWorkersOn`.
 */
export function decideHeardAgain<Pod extends PodState>(pod: Pod, { fromMs, toMs }: Silence): PodChange<Pod> | null {
  const { chargedFromMs } = pod
  if (pod.status !== 'RUNNING' || chargedFromMs === null || chargedFromMs >= toMs) return null
  const usage = fromMs > chargedFromMs ? { startedAtMs: chargedFromMs, endedAtMs: fromMs } : null
  return { pod: changed(pod, { chargedFromMs: toMs, changedAtMs: Math.max(pod.changedAtMs, toMs) }).pod, usage }
}

/** Ends an interval at the last sign of life of a silent host (POD-23). `silentSinceMs` is null when the host is not silent. */
export function cutAtSilence(usage: UsageInterval | null, silentSinceMs: number | null): UsageInterval | null {
  if (usage === null || silentSinceMs === null) return usage
  return { ...usage, endedAtMs: Math.max(usage.startedAtMs, Math.min(usage.endedAtMs, silentSinceMs)) }
}

// The reason names what a start waits for on its host (HOST-172).
function decideStarting<Pod extends PodState>(pod: Pod, statusReason: string | null, atMs: number): PodChange<Pod> | null {
  if (pod.status === 'PROVISIONING') return changed(pod, { status: 'STARTING', statusReason, changedAtMs: atMs })
  return pod.status === 'STARTING' && pod.statusReason !== statusReason ? changed(pod, { statusReason }) : null
}

function decideRunning<Pod extends PodState>(pod: Pod, ports: readonly PortMapping[], atMs: number, nowMs: number): PodChange<Pod> | null {
  if (isOver(pod)) return null
  if (pod.status === 'RUNNING') return samePorts(pod.ports, ports) ? null : changed(pod, { ports })
  // Time during which the host was lost is not charged.
  const chargedFromMs = pod.hostLost ? possibleTime(pod, nowMs, nowMs) : atMs
  const startedAtMs = pod.startedAtMs ?? atMs
  const running = { status: 'RUNNING', statusReason: null, ports, startedAtMs, chargedFromMs, changedAtMs: chargedFromMs } as const
  return changed(pod, { ...running, diskStale: false, hostLost: false })
}

// Everything that the container wrote was removed with it.
function decideGone<Pod extends PodState>(pod: Pod, reason: string | null, atMs: number): PodChange<Pod> | null {
  if (isOver(pod)) return pod.diskStale ? null : changed(pod, { diskStale: true })
  const statusReason = reason ?? 'its container was removed from its host'
  return leaveRunning(pod, atMs, { status: 'EXITED', statusReason, diskStale: true, hostLost: false })
}

/**
 * Plausible time of a reported event, because a host's clock may be wrong: not after the arrival of the report, and not before the last
 * transition, which another isolate may have decided by a clock that is ahead of this one (POD-70).
 */
function possibleTime({ changedAtMs }: PodState, atMs: number, nowMs: number): number {
  return Math.max(changedAtMs, Math.floor(Math.min(atMs, nowMs)))
}

function isOver({ status, hostLost }: PodState): boolean {
  return status === 'EXITED' || (status === 'ERROR' && !hostLost)
}

/** A change that ends the open charged interval, if any, and begins the one of disks that remain. `atMs`: end of the interval. */
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
 * Whether only the disks of a pod are charged: it does not run, its stopped disks cost something, and its host is not lost (BIL-8). A pod
 * that is being started is not charged.
 */
export function isDiskCharged({ status, hostLost, stoppedDiskNanosPerHour }: PodState): boolean {
  return (status === 'EXITED' || status === 'ERROR') && !hostLost && stoppedDiskNanosPerHour > 0
}

// A host may report any value, and every answer about the pod repeats it.
function isPossiblePort({ private: inside, public: outside, type }: PortMapping): boolean {
  const isNumber = (port: number) => port >= 1 && port <= MAX_PORT
  return isNumber(inside) && isNumber(outside) && (type === 'http' || type === 'tcp')
}

function samePorts(a: readonly PortMapping[], b: readonly PortMapping[]): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}
