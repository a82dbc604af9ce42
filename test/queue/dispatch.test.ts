import { SEED_CATALOG } from '../../src/domain/catalog/seed.ts'
import { createEndpointConfig } from '../../src/domain/endpoint/config.ts'
import { plainSubmission } from '../../src/domain/job/submit.ts'
import { acceptJob } from '../../src/queue/accept.ts'
import { dispatch } from '../../src/queue/dispatch.ts'
import { takeConfig } from '../../src/queue/endpoint-life.ts'
import type { OpenTake } from '../../src/queue/state.ts'
import { Effects, type Tx } from '../../src/queue/tx.ts'
import { MemoryState } from '../support/queue/memory-state.ts'
import { workerIn } from '../support/queue/workers.ts'
import { describe, expect, it } from '../support/unit.ts'

const NOW_MS = 1000
const FAILED = { failures: 3, notBeforeMs: 90_000 }

/** An endpoint whose starts have failed, with a worker that asks for work. */
function failingQueue(): Tx {
  const worker = workerIn('READY', 'w', { boot: 'b', lastSeenAtMs: NOW_MS, lastTakeAtMs: NOW_MS })
  const take: OpenTake = { workerId: 'w', boot: 'b', capacity: 1, parkedAtMs: NOW_MS }
  const state = new MemoryState({ openTakes: () => [take], isPolling: () => true })
  const tx: Tx = { state, nowMs: NOW_MS, effects: new Effects() }
  const made = createEndpointConfig(SEED_CATALOG, { name: 'n', image: 'i', gpu: { pools: ['ADA_24'] } }, { id: 'e', teamId: 't' }, 0)
  if (!made.ok) throw new Error(made.problem.detail)
  takeConfig(tx, made.config)
  state.workers.save(worker)
  state.meta.setLaunch(FAILED)
  return tx
}

describe('starts that failed', () => {
  it('[LSE-31] are forgotten once a worker takes a job, and not before', () => {
    const tx = failingQueue()
    expect(dispatch(tx)).toEqual([])
    expect(tx.state.meta.launch()).toEqual(FAILED)
    const submission = { ...plainSubmission('{}'), ttlMs: 1_000_000 }
    acceptJob(tx, { submission, sync: false, waitMs: 0, sealS3Config: null })
    expect(dispatch(tx).map(({ jobs }) => jobs.length)).toEqual([1])
    expect(tx.state.meta.launch()).toEqual({ failures: 0, notBeforeMs: 0 })
  })
})
