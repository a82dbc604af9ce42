import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * Files that run long, the longest of each project first. By size, which the runner sorts by, some would be the last, and the other workers
 * would wait for them. Relative to `test/`.
 */
export const LONG_FILES: readonly string[] = [
  'e2e/agent/agent-pods.e2e.test.ts',
  'e2e/programs/examples.e2e.test.ts',
  'e2e/programs/documents.e2e.test.ts',
  'e2e/agent/agent-overlay.e2e.test.ts',
  'e2e/programs/start.e2e.test.ts',
  'e2e/agent/agent-engine.e2e.test.ts',
  'e2e/jobs/attempts.e2e.test.ts',
  'e2e/recovery/relay-spool.e2e.test.ts',
  'e2e/programs/python-sdk.e2e.test.ts',
  'e2e/console/logs.e2e.test.ts',
  'e2e/console/pods.e2e.test.ts',
  'e2e/recovery/hosts-restart.e2e.test.ts',
  'e2e/agent/object-store.e2e.test.ts',
  'e2e/recovery/restarts.e2e.test.ts',
  'e2e/recovery/crashes.e2e.test.ts',
  'e2e/programs/logs.e2e.test.ts',
  'e2e/jobs/heavy-reads.e2e.test.ts',
  'conformance/records.test.ts',
  'conformance/worker-protocol.test.ts',
  'conformance/webhooks.test.ts',
  'conformance/timeouts.test.ts',
  'conformance/leases.test.ts',
  'host-agent/agent.test.ts',
  'host-agent/pulls/slow-registries.test.ts',
  'worker/rest/access/authorization-matrix.test.ts',
  'worker/graphql/authorization.test.ts',
  'worker/audit/counted-routes.test.ts',
  'worker/queue/store/model.test.ts',
  'worker/graphql/fuzz.test.ts',
  'worker/rest/requests/generated-requests.test.ts',
  'worker/rest/access/foreign-principals.test.ts',
  'worker/graphql/tenancy.test.ts',
  'worker/rest/access/derived-standing.test.ts',
  'worker/billing/large-bills.test.ts',
]

/** Takes minutes of real time; one such file runs at a time. */
const LONG_NAME = /\.long\./

/** Builds artifacts for other files, whose tests mostly wait; if it ran after them, all would wait for it. */
const FIRST = 'images'

/** Starts with the files that take longest, so that a run does not end by waiting for one of them. */
export class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const place = new Map(sorted.map((file, index) => [file, index]))
    const rank = (file: TestSpecification) => [
      groupOf(file),
      file.project.name === FIRST ? -1 : sorted.findIndex((each) => each.project === file.project),
      lengthRank(file.moduleId),
      place.get(file) ?? 0,
    ]
    return sorted.toSorted((a, b) => compare(rank(a), rank(b)))
  }
}

const groupOf = (file: TestSpecification) => file.project.config.sequence.groupOrder

/** 0 for a file of real minutes, then the place in the list; the same for all other files. */
function lengthRank(path: string): number {
  if (LONG_NAME.test(path)) return 0
  const index = LONG_FILES.findIndex((file) => path.endsWith(`/test/${file}`))
  return index === -1 ? LONG_FILES.length + 1 : index + 1
}

function compare(a: number[], b: number[]): number {
  const index = a.findIndex((value, at) => value !== b[at])
  return index === -1 ? 0 : (a[index] ?? 0) - (b[index] ?? 0)
}
