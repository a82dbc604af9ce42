import { judgeJoin } from '../../../src/domain/host/join.ts'
import { describe, expect, it } from '../../support/unit.ts'

const unused = { expiresAt: 1_000, usedAt: null, host: null }
const used = { expiresAt: 1_000, usedAt: 500, host: { publicKeyX: 'own', lastSeenAt: null } }

describe('a join token', () => {
  it('[HOST-1] lets one machine join until it expires', () => {
    expect([999, 1_000, 1_001].map((nowMs) => judgeJoin(unused, 'own', nowMs))).toEqual(['join', 'refused', 'refused'])
  })

  it('[DUR-4] is valid again only for the same key, at any time', () => {
    expect(['own', 'other'].flatMap((key) => [600, 5_000].map((nowMs) => judgeJoin(used, key, nowMs)))).toEqual([
      'repeat',
      'repeat',
      'refused',
      'refused',
    ])
  })

  it('[DUR-4] is spent for good once its host has linked, and when that was removed', () => {
    expect(judgeJoin({ ...used, host: { ...used.host, lastSeenAt: 0 } }, 'own', 600)).toBe('refused')
    expect(judgeJoin({ ...used, host: null }, 'own', 600)).toBe('refused')
  })
})
