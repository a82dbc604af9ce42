import { describe, expect, test } from 'vitest'
import { SEED_CATALOG } from '../../../src/domain/catalog/seed.ts'
import { createEndpointConfig, patchEndpointConfig } from '../../../src/domain/endpoint/config.ts'
import { removalAtMs, retentionMs } from '../../../src/domain/job/retention.ts'

describe('retention of a result', () => {
  test('[LIM-4] 30 minutes after /run, one minute after /runsync', () => {
    expect(retentionMs(undefined, false, 0)).toBe(1_800_000)
    expect(retentionMs(undefined, true, 0)).toBe(60_000)
  })

  test('[LIM-13] an explicit wait keeps a /runsync result as long, within one to five minutes', () => {
    expect([1_000, 60_000, 60_001, 299_999, 300_000].map((wait) => retentionMs(undefined, true, wait))).toEqual([
      60_000, 60_000, 60_001, 299_999, 300_000,
    ])
    expect(retentionMs(undefined, true, 300_001)).toBe(300_000)
    expect(retentionMs(undefined, false, 300_000)).toBe(1_800_000)
  })

  test('[LIM-14] an endpoint lengthens both, and a longer wait never shortens that', () => {
    const override = { runMs: 7_200_000, runSyncMs: 240_000 }
    expect(retentionMs(override, false, 0)).toBe(7_200_000)
    expect(retentionMs(override, true, 0)).toBe(240_000)
    expect(retentionMs(override, true, 300_000)).toBe(300_000)
  })
})

describe('the removal of rows', () => {
  const DAY_MS = 24 * 3_600_000

  test('[JOB-49] rows that are over within one step are removed together, never early, and at most a step late', () => {
    expect([3_780_001, 3_840_000, 3_960_000].map((overAtMs) => removalAtMs(overAtMs, 1_800_000))).toEqual([3_960_000, 3_960_000, 3_960_000])
    expect(removalAtMs(3_960_001, 1_800_000)).toBe(4_140_000)
  })

  test.each([
    ['a second at least', 10, 1_000],
    ['a tenth', 60_000, 6_000],
    ['the whole milliseconds of a tenth', 60_019, 6_001],
    ['five minutes at most', 7 * DAY_MS, 300_000],
  ])('[JOB-49] a step is %s', (_, retention, stepMs) => {
    expect([1, stepMs, stepMs + 1].map((overAtMs) => removalAtMs(overAtMs, retention))).toEqual([stepMs, stepMs, 2 * stepMs])
  })
})

describe('resultRetention of an endpoint', () => {
  const create = (resultRetention?: { run?: number; runSync?: number }) =>
    createEndpointConfig(
      SEED_CATALOG,
      { name: 'x', image: 'builtin/echo', gpu: { pools: ['ADA_24'] }, ...(resultRetention && { resultRetention }) },
      { id: 'e', teamId: 't' },
      0,
    )

  test('[LIM-14] omitted members have their default; without any nothing is stored', () => {
    expect(create()).not.toHaveProperty('config.retention')
    expect(create({ run: 3_600_000 })).toHaveProperty('config.retention', { runMs: 3_600_000, runSyncMs: 60_000 })
  })

  test('[LIM-14] a PATCH changes the named members, without a new release', () => {
    const created = create({ run: 3_600_000 })
    if (!created.ok) throw new Error('refused')
    const patched = patchEndpointConfig(SEED_CATALOG, created.config, { resultRetention: { runSync: 90_000 } })
    expect(patched).toMatchObject({ ok: true, changed: true, releaseDiff: null })
    expect(patched).toHaveProperty('config.retention', { runMs: 3_600_000, runSyncMs: 90_000 })
  })
})
