import type { Mutant } from '../../support/mutant.ts'

const SCHEMA = 'durable-objects/endpoint/store/schema.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'an index more, which every job is entered in',
    file: SCHEMA,
    find: 'CREATE INDEX jobs_retried ON jobs (state) WHERE state = 0 AND order_key <> seq;`',
    replace:
      'CREATE INDEX jobs_retried ON jobs (state) WHERE state = 0 AND order_key <> seq;\n   CREATE INDEX jobs_age ON jobs (created_at);`',
  },
  {
    id: 'an index that makes a take read the whole queue',
    file: SCHEMA,
    find: '  `DROP INDEX jobs_state;\n',
    replace: '  `',
  },
  {
    id: 'a statement more in each commit',
    file: 'durable-objects/endpoint/store/meta-store.ts',
    find: '  begin(): void {\n',
    replace: "  begin(): void {\n    this.store('config')\n",
  },
  {
    id: 'pings that are written',
    file: 'src/domain/worker/signs.ts',
    find: 'return hasSignsOnly(inRow, worker) && isTakeKnown(inRow, worker) && isIdleKnown(inRow, worker)',
    replace: 'return false',
  },
  {
    id: 'a status that calls its object twice',
    file: 'src/objects/endpoint-calls.ts',
    find: '    const reply = await stub.status(call.endpointId, call.jobId, caller)\n',
    replace: '    await stub.workers()\n    const reply = await stub.status(call.endpointId, call.jobId, caller)\n',
  },
]
