import type { Mutant } from './table.ts'

/** Bugs that only cost time: every answer stays right, but a table is scanned. */
export const STATEMENT_MUTANTS: readonly Mutant[] = [
  {
    id: 'beside an index over every state, a take reads the whole queue',
    file: 'durable-objects/endpoint/store/schema.ts',
    find: '`DROP INDEX jobs_state;\n   CREATE INDEX jobs_ended',
    replace: '`CREATE INDEX jobs_ended',
  },
  {
    id: 'no index leads from a machine to what is held on it',
    file: 'migrations/0000_init.sql',
    find: 'CREATE INDEX `allocations_host` ON `allocations` (`host_id`);--> statement-breakpoint\n',
    replace: '',
  },
  {
    id: 'a pod that is made reads what is held of every machine',
    file: 'src/db/hosts/disk-share.ts',
    find: 'ON owner.id = allocations.team_id WHERE allocations.host_id = ${hostId}))',
    replace: 'ON owner.id = allocations.team_id))',
    tests: ['--project', 'worker', 'test/worker/pods/life/lifecycle.test.ts'],
  },
]
