import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * Small files that run long: by size, which the runner sorts by, they would be the last, and the other workers would wait for them. A name
 * without a file does no harm.
 */
const LONG =
  /\.long\.|e2e\/(documents|restarts|agent-engine|first-clusters|load-balancer|console\/(faces|logs))\.|conformance\/(timeouts|records|worker-protocol|webhooks)|generated-requests|graphql\/fuzz|relay-spool|object-store|console\/pods|agent-pods|agent-overlay|python-sdk|crashes|e2e\/(start|examples|attempts)\./

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
      LONG.test(file.moduleId) ? 0 : 1,
      place.get(file) ?? 0,
    ]
    return sorted.toSorted((a, b) => compare(rank(a), rank(b)))
  }
}

const groupOf = (file: TestSpecification) => file.project.config.sequence.groupOrder

function compare(a: number[], b: number[]): number {
  const index = a.findIndex((value, at) => value !== b[at])
  return index === -1 ? 0 : (a[index] ?? 0) - (b[index] ?? 0)
}
