import { KEYS_COOLDOWN_MS, KEYS_FRESH_MS, KEYS_STALE_MS, planKeys } from '../../../src/domain/session/key-set.ts'
import { describe, expect, it } from '../../support/unit.ts'

const NOW = 1_800_000_000_000

describe('[OIDC-4] keys of the provider', () => {
  it.each([
    ['never fetched', null, null, 'FETCH'],
    ['never fetched, just tried', null, 0, 'UNAVAILABLE'],
    ['never fetched, tried a cooldown ago', null, KEYS_COOLDOWN_MS, 'FETCH'],
    ['new', 0, 0, 'USE'],
    ['fresh', KEYS_FRESH_MS - 1, KEYS_FRESH_MS - 1, 'USE'],
    ['stale', KEYS_FRESH_MS, KEYS_FRESH_MS, 'USE_AND_REFRESH'],
    ['stale, just tried', KEYS_FRESH_MS, KEYS_COOLDOWN_MS - 1, 'USE'],
    ['stale', KEYS_STALE_MS - 1, KEYS_COOLDOWN_MS, 'USE_AND_REFRESH'],
    ['too old', KEYS_STALE_MS, KEYS_COOLDOWN_MS, 'FETCH'],
    ['too old, just tried', KEYS_STALE_MS, KEYS_COOLDOWN_MS - 1, 'UNAVAILABLE'],
  ])('%s: fetched %s ms ago, tried %s ms ago: %s', (_name, fetched, tried, plan) => {
    const ago = (ms: number | null) => (ms === null ? null : NOW - ms)
    expect(planKeys({ fetchedAtMs: ago(fetched), triedAtMs: ago(tried) }, NOW)).toBe(plan)
  })
})
