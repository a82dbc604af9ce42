import type { Mutant } from '../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'two containers of a pod run at a time',
    file: 'src/host-agent/workloads/reconcile.ts',
    find: "return replaces.every((id) => !actual.has(id) || (keepDisk && actual.get(id)?.phase === 'held'))",
    replace: 'return replaces.length >= 0 || keepDisk || actual.size > 0',
  },
  {
    id: 'the previous container is removed before the new one runs',
    file: 'src/host-agent/workloads/reconcile.ts',
    find: "return actual?.phase === 'running' || actual?.phase === 'stopping'",
    replace: "return actual?.phase === 'starting' || actual?.phase === 'running' || actual?.phase === 'stopping'",
  },
  {
    id: 'a volume is wiped under a running container',
    file: 'src/host-agent/workloads/reconcile.ts',
    find: "actual.has(id) && actual.get(id)?.phase !== 'held')",
    replace: "actual.has(id) && actual.get(id)?.phase === 'removing')",
  },
  {
    id: 'volumes of every kind are wiped',
    file: 'src/host-agent/workloads/reconcile.ts',
    find: "(mount.kind === 'persistent' ? [mount.id] : [])",
    replace: '[mount.id]',
  },
]
