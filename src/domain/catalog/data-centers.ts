import type { Compliance, Region, VolumeType } from '../../contract/enums.ts'

/** A location of hosts (SEED-5, SEED-6). */
export interface DataCenter {
  id: string
  name: string
  region: Region
  /** ISO 3166 country code; null where the id does not contain it. */
  country: string | null
  /** The types of network volumes there; the first is the default (VOL-2). Empty: no network volumes. */
  networkVolumeTypes: readonly VolumeType[]
  globalNetwork: boolean
  compliance: readonly Compliance[]
}

const REGIONS: Readonly<Record<string, Region>> = {
  US: 'NORTH_AMERICA',
  CA: 'NORTH_AMERICA',
  EU: 'EUROPE',
  EUR: 'EUROPE',
  AP: 'ASIA',
  SEA: 'ASIA',
  OC: 'OCEANIA',
}

/** Place names, by the second part of an id (SEED-5). */
const PLACES: Readonly<Record<string, string>> = Object.fromEntries(
  [
    'RO Romania|MTL Montreal|SE Sweden|IL Illinois|IS Iceland|CZ Czechia|TX Texas|KS Kansas|GA Georgia|WA Washington|NL Netherlands',
    'CA California|NC North Carolina|AU Australia|DE Delaware|JP Japan|NO Norway|FR France|NE Nebraska|MD Maryland|MO Missouri',
    'DK Denmark|SG Singapore|IN India',
  ].flatMap((line) => line.split('|').map((pair) => [pair.slice(0, pair.indexOf(' ')), pair.slice(pair.indexOf(' ') + 1)])),
)

/** Prefixes that are country codes themselves; in other ids the second part is the country code. */
const COUNTRY_PREFIXES: ReadonlySet<string> = new Set(['US', 'CA'])

/** Data centers with storage, in the order of the seed. The first `HIGH_PERFORMANCE_COUNT` have both types. */
const WITH_STORAGE = 'US-CA-2 US-IL-1 US-KS-2 US-MO-1 US-MO-2 US-NC-2 US-NE-1 US-WA-1 EU-CZ-1 EU-RO-1 EUR-NO-1'.split(' ')
const HIGH_PERFORMANCE_COUNT = 3

const IDS = [
  'EU-RO-1 CA-MTL-1 EU-SE-1 US-IL-1 EUR-IS-1 EU-CZ-1 US-TX-3 EUR-IS-2 US-KS-2 US-GA-2 US-WA-1 US-TX-1 CA-MTL-3 EU-NL-1 US-TX-4',
  'US-CA-2 US-NC-1 OC-AU-1 US-DE-1 EUR-IS-3 CA-MTL-2 AP-JP-1 EUR-NO-1 EU-FR-1 US-KS-3 US-GA-1',
  'US-NE-1 US-MD-1 US-MO-1 US-MO-2 US-NC-2 EUR-NO-2 EU-DK-1 SEA-SG-1 AP-IN-1',
].flatMap((line) => line.split(' '))

/** The data centers that every plane knows, in the order of the seed (SEED-5). */
export const SEED_DATA_CENTERS: readonly DataCenter[] = IDS.map(seeded)

/** A data center that an operator named when a host joined: its hosts offer STANDARD storage, and nothing else is known (RES-2). */
export function joinedDataCenter(id: string): DataCenter {
  return { id, name: id, region: 'UNKNOWN', country: null, networkVolumeTypes: ['STANDARD'], globalNetwork: false, compliance: [] }
}

function seeded(id: string): DataCenter {
  const [prefix = '', second = '', number = ''] = id.split('-')
  const storage = WITH_STORAGE.indexOf(id)
  return {
    id,
    name: [prefix, PLACES[second] ?? second, number].join(' '),
    region: REGIONS[prefix] ?? 'UNKNOWN',
    country: COUNTRY_PREFIXES.has(prefix) ? prefix : second,
    networkVolumeTypes: storage < 0 ? [] : storage < HIGH_PERFORMANCE_COUNT ? ['STANDARD', 'HIGH_PERFORMANCE'] : ['STANDARD'],
    globalNetwork: storage >= 0,
    compliance: [],
  }
}
