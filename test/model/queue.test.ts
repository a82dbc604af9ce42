import { test } from 'vitest'
import { checkHistories } from './check-histories.ts'
import { MemoryQueue } from './memory-queue.ts'

/** `MODEL_HISTORIES=5000` plays more histories, `MODEL_SEED=…` repeats the run that a failure named. */
const HISTORIES = Number(process.env.MODEL_HISTORIES ?? 300)
const SEED = process.env.MODEL_SEED
const TIME_PER_HISTORY_MS = 400

test.each([
  { workers: 'three workers that are always there', scales: false },
  { workers: 'workers that come and go', scales: true },
])(
  '[JOB-11, LSE, TMO, CTL, HOST-36] with $workers, the engine and the oracle agree over hundreds of histories',
  {
    timeout: HISTORIES * TIME_PER_HISTORY_MS,
  },
  async ({ scales }) => {
    await checkHistories({
      queue: async () => new MemoryQueue({ scales }),
      histories: HISTORIES,
      operations: 110,
      checkEvery: 1,
      shrink: true,
      ...(SEED && { seed: Number(SEED) }),
    })
  },
)
