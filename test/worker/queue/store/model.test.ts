import { checkHistories } from '../../../model/check-histories.ts'
import { it } from '../../../support/harness.ts'
import { ObjectQueue } from '../../../support/queue/object-queue.ts'

const HISTORIES = 4
const TIME_PER_HISTORY_MS = 30_000

it.each([
  { workers: 'three workers that are always there', scales: false },
  { workers: 'workers that come and go', scales: true },
])(
  '[P1, P2, P3, P5, JOB-11, LSE] with $workers, the real object and the oracle agree over histories of 100 operations',
  { timeout: HISTORIES * TIME_PER_HISTORY_MS },
  async ({ scales }) => {
    const queue = () => ObjectQueue.create({ scales })
    await checkHistories({ queue, histories: HISTORIES, operations: 102, checkEvery: 10, shrink: false })
  },
)
