import { joinedDataCenter, SEED_DATA_CENTERS } from '../../../src/domain/catalog/data-centers.ts'
import { hintOf, hintOfAll, type LocationHint } from '../../../src/domain/catalog/location-hint.ts'
import { describe, expect, it } from '../../support/unit.ts'

const SEEDED: Readonly<Partial<Record<LocationHint, string>>> = {
  wnam: 'US-CA-2 US-WA-1',
  enam: 'CA-MTL-1 CA-MTL-2 CA-MTL-3 US-DE-1 US-GA-1 US-GA-2 US-IL-1 US-KS-2 US-KS-3 US-MD-1 US-MO-1 US-MO-2 US-NC-1 US-NC-2 US-NE-1 US-TX-1 US-TX-3 US-TX-4',
  weur: 'EU-DK-1 EU-FR-1 EU-NL-1 EU-SE-1 EUR-IS-1 EUR-IS-2 EUR-IS-3 EUR-NO-1 EUR-NO-2',
  eeur: 'EU-CZ-1 EU-RO-1',
  apac: 'AP-IN-1 AP-JP-1 SEA-SG-1',
  oc: 'OC-AU-1',
}
const find = (id: string) => SEED_DATA_CENTERS.find((one) => one.id === id) ?? joinedDataCenter(id)

describe('the region of an object', () => {
  it('[HOST-191] every data center of the built-in list has one', () => {
    const found = Map.groupBy(
      SEED_DATA_CENTERS.toSorted((a, b) => (a.id < b.id ? -1 : 1)),
      hintOf,
    )
    expect(Object.fromEntries([...found].map(([hint, places]) => [hint, places.map(({ id }) => id).join(' ')]))).toEqual(SEEDED)
  })

  it.each([
    ['SOUTH_AMERICA', 'BR', 'sam'],
    ['MIDDLE_EAST', 'AE', 'me'],
    ['AFRICA', 'ZA', 'afr'],
    ['EUROPE', 'PL', 'eeur'],
    ['EUROPE', 'DE', 'weur'],
    ['EUROPE', null, null],
    ['NORTH_AMERICA', 'US', null],
    ['ANTARCTICA', 'AQ', null],
    ['UNKNOWN', null, null],
  ] as const)('[HOST-191] a data center of the operator in %s, %s: %s', (region, country, hint) => {
    expect(hintOf({ id: 'hall-7', region, country })).toBe(hint)
  })

  it('[HOST-191] an American one needs a known state or city', () => {
    const named = (id: string, country: string) => hintOf({ id, region: 'NORTH_AMERICA', country })
    expect([named('US-OR-9', 'US'), named('CA-TOR-1', 'CA'), named('US-EAST-1', 'US'), named('CA-CA-1', 'CA')]).toEqual([
      'wnam',
      'enam',
      null,
      null,
    ])
  })

  it('[HOST-191] several data centers have one only if all lie in it', () => {
    expect(hintOfAll(['US-CA-2', 'US-WA-1'].map(find))).toBe('wnam')
    expect(hintOfAll(['US-CA-2', 'US-KS-2'].map(find))).toBeNull()
    expect(hintOfAll(['US-CA-2', 'cellar'].map(find))).toBeNull()
    expect(hintOfAll([])).toBeNull()
  })
})
