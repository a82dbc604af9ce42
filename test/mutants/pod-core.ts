import type { Mutant } from './table.ts'

// Bugs of a pod's life, its containers, its placement and its charge.

const POD = 'src/domain/pod/pod.ts'
const WORKLOADS = 'src/domain/pod/workloads.ts'
const PLACEMENT = 'src/domain/pod/place/placement.ts'
const LOG_STREAM = 'src/domain/text/log-stream.ts'

/** Killed by the unit tests of the pure rules. */
export const POD_CORE_DOMAIN_MUTANTS: readonly Mutant[] = [
  {
    id: 'pod: a former container speaks for the pod',
    file: POD,
    find: 'report.generation !== pod.generation',
    replace: 'report.generation > pod.generation',
  },
  {
    id: 'pod: usage begins before the last interval ended',
    file: POD,
    find: 'Math.max(changedAtMs, Math.floor(Math.min(atMs, nowMs)))',
    replace: 'Math.min(Math.max(changedAtMs, Math.floor(atMs)), nowMs)',
  },
  { id: 'pod: a host is believed about the future', file: POD, find: 'Math.floor(Math.min(atMs, nowMs))', replace: 'Math.floor(atMs)' },
  { id: 'pod: what a lost host ran is charged', file: POD, find: 'pod.hostLost ? possibleTime(pod, nowMs, nowMs) : atMs', replace: 'atMs' },
  { id: 'pod: its start is that of its host', file: POD, find: 'pod.startedAtMs ?? atMs', replace: 'chargedFromMs' },
  {
    id: 'pod: a silence that is over is charged',
    file: POD,
    find: '{ chargedFromMs: toMs, changedAtMs',
    replace: '{ chargedFromMs, changedAtMs',
  },
  {
    id: 'pod: what ended in a silence is charged to its end',
    file: POD,
    find: 'Math.min(usage.endedAtMs, silentSinceMs)',
    replace: 'usage.endedAtMs',
  },
  { id: 'pod: a stopped pod runs again by a late report', file: POD, find: 'if (isOver(pod)) return null\n  if', replace: 'if' },
  { id: 'pod: a lost pod gives its GPUs back', file: POD, find: 'TO_RUN.includes(status) || hostLost', replace: 'TO_RUN.includes(status)' },
  { id: 'pod: a locked pod stops', file: POD, find: '!(locked && BARRED_BY_LOCK.includes(action))', replace: 'true' },
  { id: 'pod: a restart wipes a locked pod', file: POD, find: "= ['stop', 'restart']", replace: "= ['stop']" },
  {
    id: 'pod: a restart keeps the disk',
    file: POD,
    find: 'restart: (pod) => nextContainer(pod, false)',
    replace: 'restart: (pod) => nextContainer(pod, true)',
  },
  {
    id: 'pod: a disk that is gone is gone on with',
    file: POD,
    find: 'pod.diskStale ? null : changed(pod, { diskStale: true })',
    replace: 'null',
  },
  {
    id: 'pod: the end of a lost pod is charged to now',
    file: POD,
    find: "leaveRunning(pod, atMs, { status: 'ERROR', statusReason: reason",
    replace: "leaveRunning(pod, Math.max(atMs, nowMs), { status: 'ERROR', statusReason: reason",
  },
  { id: 'pod: two containers of a pod at once', file: WORKLOADS, find: 'replaces: formers,', replace: 'replaces: formers.slice(1),' },
  {
    id: 'pod: the disk to go on with is removed',
    file: WORKLOADS,
    find: "pod.keepsDisk ? 'held' : 'stopped'",
    replace: "'stopped'",
  },
  {
    id: 'pod: a stopped pod is run where it never was',
    file: WORKLOADS,
    find: '!isToRun(pod) && !known.includes(pod.generation)',
    replace: 'false',
  },
  { id: 'pod: a volume outlives its pod', file: WORKLOADS, find: 'wipe: true })', replace: 'wipe: false })' },
  {
    id: 'pod: the strategy beats the data center',
    file: PLACEMENT,
    find: 'order(a.host.dataCenterId) - order(b.host.dataCenterId) || sign',
    replace: 'sign',
  },
  { id: 'pod: less than half a share is enough', file: PLACEMENT, find: 'LEAST_SHARE = 0.5', replace: 'LEAST_SHARE = 0.49' },
  {
    id: 'pod: what a pod asks for a GPU is for all of them',
    file: PLACEMENT,
    find: '(asked ?? share * LEAST_SHARE) * count',
    replace: '(asked ?? share * LEAST_SHARE * count)',
  },
  {
    id: 'pod: a volume takes no room',
    file: PLACEMENT,
    find: 'container.diskGb + (mounts.persistent?.sizeGb ?? 0)',
    replace: 'container.diskGb',
  },
  {
    id: 'pod: a segment takes a line that is kept at hand',
    file: LOG_STREAM,
    find: 'LOG_KEPT_LINES + SEGMENT_LINES - 1',
    replace: 'LOG_KEPT_LINES + SEGMENT_LINES - 2',
  },
  {
    id: 'pod: a segment without a bound of bytes',
    file: LOG_STREAM,
    find: 'endByte - startByte < SEGMENT_BYTES',
    replace: 'endByte >= startByte',
  },
]

const ROWS = 'src/db/pods/pods.ts'
const REPORTS = 'src/effects/pods/pod-reports.ts'
const ARCHIVE = 'durable-objects/pod-log/archive.ts'
const HISTORY = 'durable-objects/pod-log/history.ts'

/** Killed by the tests against the real objects in workerd. */
export const POD_CORE_OBJECT_MUTANTS: readonly Mutant[] = [
  {
    id: 'pod: a terminated pod keeps its env',
    file: 'src/db/pods/former-pods.ts',
    find: "pod.status === 'TERMINATED' ? { ...pod,",
    replace: "pod.status !== 'TERMINATED' ? { ...pod,",
  },
  {
    id: 'pod: a terminated pod goes while its host holds something for it',
    file: 'src/db/pods/former-pods.ts',
    find: 'sql`NOT EXISTS (SELECT 1',
    replace: 'sql`1 OR EXISTS (SELECT 1',
  },
  {
    id: 'pod: terminated pods are kept for ever',
    file: 'durable-objects/host/housekeeping.ts',
    find: 'now() - readSettings(env).terminatedPodsKeptMs',
    replace: '0',
  },
  {
    id: 'pod: terminated pods have no bound',
    file: 'src/db/pods/former-pods.ts',
    find: "LIMIT -1 OFFSET ${boundOf(teamId, 'formerPods')}",
    replace: 'LIMIT 0',
  },
  {
    id: 'pod: a silent host is not shown',
    file: 'src/services/pods/pod-view.ts',
    find: 'silentSinceMs === null ? pod.statusReason : describeSilence(silentSinceMs)',
    replace: 'pod.statusReason',
  },
  {
    id: 'pod: figures of a silent host are shown',
    file: 'src/services/pods/pod-view.ts',
    find: "pod.status === 'RUNNING' && silentSinceMs === null",
    replace: "pod.status === 'RUNNING'",
  },
  {
    id: 'pod: a beat hides the silence before it',
    file: 'durable-objects/host/link/conversation.ts',
    find: '    await silence.ends()\n    links.heard(socket, ',
    replace: '    links.heard(socket)\n    await silence.ends()\n    links.heard(socket, ',
  },
  {
    id: 'pod: a link hides the silence before it',
    file: 'durable-objects/host.ts',
    find: '    await this.silence.ends()\n    const { agent, plane } = this.links.accept(request)',
    replace: '    const { agent, plane } = this.links.accept(request)\n    await this.silence.ends()',
  },
  {
    id: 'pod: a report overtakes the end of a silence',
    file: 'durable-objects/host.ts',
    find: '    await this.silence.settle(hostId)\n    await this.reports.passOn(hostId, reports)',
    replace: '    await this.reports.passOn(hostId, reports)',
  },
  {
    id: 'pod: a stop in a silence is charged to now',
    file: 'src/effects/pods/pod-transitions.ts',
    find: 'cutAtSilence(change.usage, mark?.silentSinceMs ?? null)',
    replace: 'mark === undefined ? null : change.usage',
  },
  {
    id: 'pod: an end in a silence is charged to its report',
    file: REPORTS,
    find: 'cutAtSilence(change.usage, silentSinceMs)',
    replace: 'silentSinceMs === 0 ? null : change.usage',
  },
  {
    id: 'pod: the silence of the plane is shown',
    file: 'durable-objects/host/presence.ts',
    find: 'const record = this.excuseOutage(stored)',
    replace: 'const record = stored',
  },
  {
    id: 'pod: usage is written for a transition that was lost',
    file: 'src/db/billing/usage.ts',
    find: 'WHERE changes() > 0',
    replace: 'WHERE TRUE',
  },
  { id: 'pod: a start on a removed host', file: ROWS, find: " AND h.status <> 'REMOVED'", replace: '' },
  {
    id: 'pod: compute is taken from under a pod that started again',
    file: ROWS,
    find: " AND host_lost = 0 AND status IN ('EXITED', 'ERROR')",
    replace: '',
  },
  {
    id: 'pod: compute is given back while a container stops',
    file: REPORTS,
    find: '!isToRun(pod) && areOthersDown',
    replace: '!isToRun(pod)',
  },
  {
    id: 'pod: marked pods are looked at once',
    file: 'durable-objects/host/pods/pods.ts',
    find: 'alarms.set(MARKS_TIMER',
    replace: 'alarms.setBy(MARKS_TIMER',
  },
  {
    id: 'pod: what has ended stays wished for',
    file: 'durable-objects/host/reports.ts',
    find: '    await this.deps.podChanged(hostId, podId, report.state)\n',
    replace: '',
  },
  {
    id: 'pod: a foreign log can be read',
    file: 'src/services/logs/pod-logs.ts',
    find: "await own(ctx.env, ctx.principal, 'pod', podId)",
    replace: "(await import('../../objects/as-plane.ts')).asPlane('pod', podId, 'notes what it did')",
  },
  {
    id: 'pod: a note is told again',
    file: 'src/effects/pods/pod-notes.ts',
    find: 'seq: pod.version',
    replace: 'seq: Date.now() * 1_000 + Math.floor(Math.random() * 1_000)',
  },
  {
    id: 'pod: the log of a pod that lives is deleted',
    file: 'durable-objects/pod-log.ts',
    find: "return pod !== null && pod.status !== 'TERMINATED'",
    replace: 'return false',
  },
  { id: 'pod: lines are dropped before the bucket has them', file: ARCHIVE, find: 'this.bucket ? BACKLOG_FACTOR : 1', replace: '1' },
  { id: 'pod: segments outlive their log', file: 'durable-objects/pod-log.ts', find: '    await this.archive.removeAll()\n', replace: '' },
  { id: 'pod: a reader skips the segments', file: HISTORY, find: 'if (this.archive.segmentAfter(cursor)) return null', replace: '' },
  { id: 'pod: since looks in the tail only', file: HISTORY, find: 'if (!segment) return', replace: 'return' },
  {
    id: 'pod: a step through a segment skips its rest',
    file: HISTORY,
    find: 'position: isWhole ? segment.lastN : (lines.at(-1)?.n ?? segment.lastN)',
    replace: 'position: segment.lastN',
  },
  {
    id: 'pod: nobody is told that a host is lost',
    file: 'src/effects/pods/pod-hosts.ts',
    find: 'before, after),\n      (before, after) => notePod(env, after, noteOfTransition(before, after)),',
    replace: 'before, after),\n      async () => {},',
  },
]
