import { describe, test, vi } from 'vitest'
import { LeaseWatch } from '../../../src/host-agent/plane/lease.ts'

describe('lease watch', () => {
  test('fires 5 s before the lease ends, counted from when the acknowledged beat was sent', ({ expect }) => {
    vi.useFakeTimers()
    try {
      let lost = 0
      const lease = new LeaseWatch(30_000, () => {
        lost += 1
      })
      vi.advanceTimersByTime(20_000)
      lease.renew(performance.now() - 1_000)
      vi.advanceTimersByTime(23_999)
      expect(lost).toBe(0)
      vi.advanceTimersByTime(1)
      expect(lost).toBe(1)
      lease.close()
    } finally {
      vi.useRealTimers()
    }
  })
})
