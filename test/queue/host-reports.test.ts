import type { WorkloadReport } from '../../src/host-protocol/messages.ts'
import { Effects } from '../../src/queue/tx.ts'
import { applyWorkloadReport } from '../../src/queue/workers/host-reports.ts'
import { MemoryState } from '../support/queue/memory-state.ts'
import { workerIn } from '../support/queue/workers.ts'
import { describe, expect, it } from '../support/unit.ts'

/** The worker after the report of its host; null when its row is deleted. */
function leftOf(phase: 'READY' | 'DRAINING' | 'FAILED', reported: 'gone' | 'exited') {
  const state = new MemoryState()
  state.workers.save(workerIn(phase, 'w'))
  const report: WorkloadReport = { workloadId: 'w', state: reported, at: 1000, sequence: 1, exitCode: null, reason: null }
  applyWorkloadReport({ state, nowMs: 1000, effects: new Effects() }, report)
  return state.workers.get('w')
}

describe('a report of a host about a container', () => {
  it('[WRK-24] that is gone requests no removal; a failure stays readable', () => {
    expect(leftOf('READY', 'gone')).toMatchObject({ phase: 'FAILED', released: true, reason: 'its container disappeared from the host' })
    expect(leftOf('FAILED', 'gone')).toMatchObject({ phase: 'FAILED', released: true })
    expect(leftOf('DRAINING', 'gone')).toBeNull()
  })

  it('[WRK-24] that has ended still requests its removal', () => {
    expect(leftOf('READY', 'exited')).toMatchObject({ phase: 'FAILED', released: false })
  })
})
