import { ExpiringCache } from '../../../src/platform/expiring-cache.ts'
import { expect, it } from '../../support/unit.ts'

const TTL_MS = 60_000
const NOW_MS = 10 * TTL_MS

it('[CLK-6] an entry from an hour ahead of the clock is too old, and entries slightly out of order are not', () => {
  const remembered = new ExpiringCache<string>(TTL_MS, 10)
  remembered.set('a', 'kept', NOW_MS)
  expect(remembered.get('a', NOW_MS - 1_000)).toBe('kept')
  expect(remembered.get('a', NOW_MS + TTL_MS - 1)).toBe('kept')
  remembered.set('b', 'future', NOW_MS + 3_600_000)
  expect(remembered.get('b', NOW_MS)).toBeUndefined()
})
