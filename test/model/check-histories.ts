import fc from 'fast-check'
import { History } from './history.ts'
import { historyOf } from './operations.ts'
import type { QueueUnderTest } from './queue-under-test.ts'

export interface HistoryChecks {
  /** Makes a fresh queue for one history. */
  queue: () => Promise<QueueUnderTest>
  histories: number
  operations: number
  /** Records and counters are compared after every so many operations. */
  checkEvery: number
  /** Whether a failing history is shrunk; not worth it where one history takes seconds. */
  shrink: boolean
  /** Repeats the histories of a failure. */
  seed?: number
}

/** Plays random histories against fresh queues. A failure reports its seed and path, the first difference, and the operations before it. */
export async function checkHistories({ queue, histories, operations, checkEvery, shrink, seed }: HistoryChecks): Promise<void> {
  const property = fc.asyncProperty(historyOf(operations), async (history) => new History(await queue(), { checkEvery }).play(history))
  await fc.assert(property, {
    numRuns: histories,
    endOnFailure: !shrink,
    ...(seed !== undefined && { seed }),
    reporter: ({ failed, seed, counterexamplePath, errorInstance, numShrinks }) => {
      if (!failed) return
      const problem = errorInstance instanceof Error ? errorInstance.message : String(errorInstance)
      throw new Error(`seed ${seed}, path "${counterexamplePath}", shrunk ${numShrinks} times: ${problem}`)
    },
  })
}
