import type { Mutant } from '../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'an index more on pods',
    file: 'migrations/0009_former_rows.sql',
    find: 'CREATE INDEX `pods_former` ON',
    replace: 'CREATE INDEX `pods_reason` ON `pods` (`status`, `status_reason`);--> statement-breakpoint\nCREATE INDEX `pods_former` ON',
  },
  {
    id: 'a page of pods that asks their host twice',
    file: 'src/services/pods/live-pods.ts',
    find: '  const { silentSinceMs, stats, idle } = await withinTime(',
    replace: '  await hostStub(env, hostOf(first)).readPods(ids)\n  const { silentSinceMs, stats, idle } = await withinTime(',
  },
  {
    id: 'an end of a pod that scans the former pods of all accounts',
    file: 'src/db/pods/terminated-pods.ts',
    find: "SELECT rowid FROM pods WHERE team_id = ${teamId} AND status = 'TERMINATED'",
    replace: "SELECT rowid FROM pods WHERE +team_id = ${teamId} AND status = 'TERMINATED'",
  },
]
