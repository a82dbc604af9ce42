import type { Mutant } from './table.ts'

// Bugs of a pod's life, its containers, its placement and its charge.

const POD = 'src/domain/pod.ts'
const WORKLOADS = 'src/domain/pod-workloads.ts'
const PLACEMENT = 'src/domain/pod-placement.ts'

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
  { id: 'pod: a stopped pod runs again by a late report', file: POD, find: 'if (isOver(pod)) return null\n  if', replace: 'if' },
  { id: 'pod: a lost pod gives its GPUs back', file: POD, find: "status === 'RUNNING' || hostLost", replace: "status === 'RUNNING'" },
  { id: 'pod: a locked pod stops', file: POD, find: "!(locked && action === 'stop')", replace: 'true' },
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
  { id: 'pod: the end of a lost pod is charged to now', file: POD, find: 'possibleTime(pod, lastHeardMs, nowMs)', replace: 'nowMs' },
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
]

/** Killed by the tests against the real objects in workerd. */
export const POD_CORE_OBJECT_MUTANTS: readonly Mutant[] = []
