import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { checkPlane, checkReadiness, type PlaneFacts, pendingMigrations } from '../../../src/domain/plane/checks.ts'
import type { StorageFacts } from '../../../src/domain/plane/storage-room.ts'
import { VERSION } from '../../../src/platform/version.ts'
import { describe, expect, it } from '../../support/unit.ts'

const GOOD: PlaneFacts = {
  databaseMs: 3,
  objectFault: null,
  storage: { freeBytes: 50 * 2 ** 30, totalBytes: 100 * 2 ** 30, reservedBytes: 2 ** 30, damaged: [] },
  applied: ['0000_a.sql', '0001_b.sql'],
  known: ['0000_a.sql', '0001_b.sql'],
  hosts: [{ isOnline: true, isHealthy: true, isCordoned: false }],
  waitingSinceMs: [],
  hasPreviousSecret: false,
  hasSignIn: true,
  nowMs: 3_600_000,
}
const disk = (facts: Partial<StorageFacts>): StorageFacts => ({
  freeBytes: 50 * 2 ** 30,
  totalBytes: 100 * 2 ** 30,
  reservedBytes: 2 ** 30,
  damaged: [],
  ...facts,
})
const decisions = (facts: Partial<PlaneFacts>) =>
  Object.fromEntries(checkPlane({ ...GOOD, ...facts }).flatMap(({ id, verdict }) => (verdict === 'OK' ? [] : [[id, verdict]])))

describe('[PLANE-1] checks of the plane', () => {
  it('a healthy plane has no problem', () => {
    expect(decisions({})).toEqual({})
    expect(checkPlane(GOOD).every(({ fix }) => fix === null)).toBe(true)
  })

  it.each<[string, Partial<PlaneFacts>, Record<string, string>]>([
    ['a slow database', { databaseMs: 501 }, { database: 'WARN' }],
    ['a table that is missing', { applied: ['0000_a.sql'] }, { migrations: 'FAIL' }],
    ['a table of a newer release', { applied: [...GOOD.applied, '0002_c.sql'] }, { migrations: 'WARN' }],
    ['no machine', { hosts: [] }, { hosts: 'WARN' }],
    ['a silent machine', { hosts: [{ isOnline: false, isHealthy: false, isCordoned: false }] }, { hosts: 'WARN' }],
    ['a sick machine', { hosts: [{ isOnline: true, isHealthy: false, isCordoned: false }] }, { hosts: 'WARN' }],
    ['a sick machine under repair', { hosts: [{ isOnline: false, isHealthy: false, isCordoned: true }] }, {}],
    ['a long wait', { waitingSinceMs: [GOOD.nowMs - 15 * 60_000 - 1, GOOD.nowMs] }, { waiting: 'WARN' }],
    ['a short wait', { waitingSinceMs: [GOOD.nowMs - 15 * 60_000] }, {}],
    ['a previous secret', { hasPreviousSecret: true }, { secrets: 'WARN' }],
    ['a disk that is nearly full', { storage: disk({ freeBytes: 4 * 2 ** 30 }) }, { disk: 'WARN' }],
    ['a full disk', { storage: disk({ freeBytes: 2 ** 20 }) }, { disk: 'FAIL' }],
    ['a damaged file', { storage: disk({ damaged: ['do/x.sqlite'] }) }, { files: 'FAIL' }],
    ['objects that cannot write', { objectFault: 'disk I/O error' }, { objects: 'FAIL' }],
    ['no provider', { hasSignIn: false }, {}],
  ])('%s', (_, facts, wanted) => {
    expect(decisions(facts)).toEqual(wanted)
    for (const { verdict, fix } of checkPlane({ ...GOOD, ...facts })) expect(fix === null).toBe(verdict === 'OK')
  })

  it('[PLANE-2] a missing migration alone keeps it from serving', () => {
    expect(pendingMigrations({ applied: ['0000_a.sql'], known: GOOD.known })).toEqual(['0001_b.sql'])
    expect(checkReadiness({ ...GOOD, applied: [] }).map(({ id }) => id)).toEqual(['migrations'])
  })

  it('[PLANE-2] a disk that is nearly full, a damaged file and an object that cannot write keep it from serving too', () => {
    const failing = { ...GOOD, objectFault: 'disk I/O error', storage: disk({ freeBytes: 4 * 2 ** 30, damaged: ['do/x.sqlite'] }) }
    expect(checkReadiness(failing).map(({ id }) => id)).toEqual(['objects', 'disk', 'files'])
    expect(checkReadiness(GOOD)).toEqual([])
    expect(checkReadiness({ ...GOOD, storage: null })).toEqual([])
  })
})

it('[PLANE-1] the plane names the release that package.json has', () => {
  const manifest = JSON.parse(readFileSync(resolve(import.meta.dirname, '../../../package.json'), 'utf8')) as { version: string }
  expect(VERSION).toBe(manifest.version)
})
