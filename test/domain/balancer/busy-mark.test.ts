import { staysBusy } from '../../../src/domain/balancer/busy-mark.ts'
import { workerIn } from '../../support/queue/workers.ts'
import { describe, expect, it } from '../../support/unit.ts'

describe('a worker whose last request has ended', () => {
  it('[LB-24] [LB-17] stays marked as busy, but not if it is to end: draining, of an older release or gone', () => {
    const ready = workerIn('READY', 'a', { version: 2 })
    expect(staysBusy(ready, 2)).toBe(true)
    const leaving = [staysBusy(workerIn('DRAINING', 'b', { version: 2 }), 2), staysBusy(ready, 3), staysBusy(null, 2)]
    expect(leaving).toEqual([false, false, false])
  })
})
