import { checkHistories } from '../../../model/check-histories.ts'
import { it } from '../../../support/harness.ts'
import { ObjectQueue } from '../../../support/queue/object-queue.ts'

const HISTORIES = 4
const TIME_PER_HISTORY_MS = 30_000

it.each([
  { workers: 'three workers that are always there', scales: false, transport: 'HTTP' },
  { workers: 'workers that come and go', scales: true, transport: 'HTTP' },
  { workers: 'three workers that are always there', scales: false, transport: 'a worker channel' },
  { workers: 'workers that come and go', scales: true, transport: 'a worker channel' },
] as const)(
  '[P1, P2, P3, P5, JOB-11, LSE, CHN-1] with $workers over $transport, the real object and the oracle agree over histories of 100 operations',
  { timeout: HISTORIES * TIME_PER_HISTORY_MS },
  async ({ scales, transport }) => {
    const queue = () => ObjectQueue.create({ scales, transport })
    await checkHistories({ queue, histories: HISTORIES, operations: 102, checkEvery: 10, shrink: false })
  },
)
