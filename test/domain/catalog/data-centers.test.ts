import { findListedDataCenter } from '../../../src/domain/catalog/catalog.ts'
import { joinedDataCenter, SEED_DATA_CENTERS } from '../../../src/domain/catalog/data-centers.ts'
import { SEED_CATALOG } from '../../../src/domain/catalog/seed.ts'
import { describe, expect, it } from '../../support/unit.ts'

describe('data centers', () => {
  it('[SEED-5] are 35, each once, eleven with storage', () => {
    expect(SEED_DATA_CENTERS).toHaveLength(35)
    expect(new Set(SEED_DATA_CENTERS.map(({ id }) => id)).size).toBe(35)
    expect(SEED_DATA_CENTERS.filter(({ networkVolumeTypes }) => networkVolumeTypes.length > 0)).toHaveLength(11)
  })

  it.each([
    ['US-KS-2', 'NORTH_AMERICA', 'US'],
    ['CA-MTL-1', 'NORTH_AMERICA', 'CA'],
    ['EU-RO-1', 'EUROPE', 'RO'],
    ['EUR-IS-1', 'EUROPE', 'IS'],
    ['AP-JP-1', 'ASIA', 'JP'],
    ['SEA-SG-1', 'ASIA', 'SG'],
    ['OC-AU-1', 'OCEANIA', 'AU'],
  ])('[SEED-6] %s is in %s, %s', (id, region, country) => {
    expect(findListedDataCenter(SEED_CATALOG, id)).toMatchObject({ id, region, country })
  })

  it('[SEED-5] have names in words', () => {
    const names = SEED_DATA_CENTERS.map(({ name }) => name)
    expect(names.slice(0, 3)).toEqual(['EU Romania 1', 'CA Montreal 1', 'EU Sweden 1'])
    expect(findListedDataCenter(SEED_CATALOG, 'US-KS-2')?.name).toBe('US Kansas 2')
    expect(names.filter((name) => !/^[A-Z]{2,3} [A-Z][a-z]+( [A-Z][a-z]+)? \d$/.test(name))).toEqual([])
  })

  it.each([
    ['US-CA-2', ['STANDARD', 'HIGH_PERFORMANCE'], true],
    ['US-IL-1', ['STANDARD', 'HIGH_PERFORMANCE'], true],
    ['US-KS-2', ['STANDARD', 'HIGH_PERFORMANCE'], true],
    ['US-MO-1', ['STANDARD'], true],
    ['EUR-NO-1', ['STANDARD'], true],
    ['EU-SE-1', [], false],
  ])('[SEED-6] %s has volumes of the types %j', (id, networkVolumeTypes, globalNetwork) => {
    expect(findListedDataCenter(SEED_CATALOG, id)).toMatchObject({ networkVolumeTypes, globalNetwork })
  })

  it('[RES-2] a data center that a machine named has STANDARD storage, and nothing is derived from its name', () => {
    expect(findListedDataCenter(SEED_CATALOG, 'LOCAL-1')).toBeUndefined()
    expect(joinedDataCenter('US-LAB')).toEqual({
      id: 'US-LAB',
      name: 'US-LAB',
      region: 'UNKNOWN',
      country: null,
      networkVolumeTypes: ['STANDARD'],
      globalNetwork: false,
      compliance: [],
    })
  })
})
