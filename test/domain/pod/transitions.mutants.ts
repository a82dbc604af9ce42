import type { Mutant } from '../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'a previous container reports for the pod',
    file: 'src/domain/pod/pod.ts',
    find: 'report.generation !== pod.generation',
    replace: 'report.generation > pod.generation',
  },
  {
    id: 'a pod on a lost host is charged',
    file: 'src/domain/pod/pod.ts',
    find: 'pod.hostLost ? possibleTime(pod, nowMs, nowMs) : atMs',
    replace: 'atMs',
  },
  {
    id: 'the time of a past silence is charged',
    file: 'src/domain/pod/pod.ts',
    find: '{ chargedFromMs: toMs, changedAtMs',
    replace: '{ chargedFromMs, changedAtMs',
  },
  {
    id: 'a stopped pod runs again because of a late report',
    file: 'src/domain/pod/pod.ts',
    find: 'if (isOver(pod)) return null\n  if',
    replace: 'if',
  },
  {
    id: 'a lost pod frees its GPUs',
    file: 'src/domain/pod/pod.ts',
    find: 'TO_RUN.includes(status) || hostLost',
    replace: 'TO_RUN.includes(status)',
  },
  {
    id: 'pod: a locked pod stops',
    file: 'src/domain/pod/pod.ts',
    find: '!(locked && BARRED_BY_LOCK.includes(action))',
    replace: 'true',
  },
  {
    id: 'pod: the end of a lost pod is charged to now',
    file: 'src/domain/pod/pod.ts',
    find: "leaveRunning(pod, atMs, { status: 'ERROR', statusReason: reason",
    replace: "leaveRunning(pod, Math.max(atMs, nowMs), { status: 'ERROR', statusReason: reason",
  },
]
