import type { Region } from '../../contract/enums.ts'
import type { DataCenter } from './data-centers.ts'

/** Regions of the platform in which an object can be created. */
export type LocationHint = 'wnam' | 'enam' | 'sam' | 'weur' | 'eeur' | 'apac' | 'oc' | 'afr' | 'me'

/** Regions that are one region of the platform. */
const WHOLE: Readonly<Partial<Record<Region, LocationHint>>> = {
  SOUTH_AMERICA: 'sam',
  ASIA: 'apac',
  MIDDLE_EAST: 'me',
  AFRICA: 'afr',
  OCEANIA: 'oc',
}
const EASTERN_EUROPE = setOf('BG BY CZ EE FI GR HR HU LT LV MD MK PL RO RS SI SK UA')
/** States, provinces and cities as the second part of an id names them, such as `US-KS-2` and `CA-MTL-1`. */
const WESTERN_AMERICA: Readonly<Record<string, ReadonlySet<string>>> = {
  US: setOf('AK AZ CA CO HI ID MT NM NV OR UT WA WY'),
  CA: setOf('AB BC CGY EDM VAN YVR'),
}
const EASTERN_AMERICA: Readonly<Record<string, ReadonlySet<string>>> = {
  US: setOf('AL AR CT DC DE FL GA IA IL IN KS KY LA MA MD ME MI MN MO MS NC ND NE NH NJ NY OH OK PA RI SC SD TN TX VA VT WI WV'),
  CA: setOf('MTL NB NS ON QC TOR YUL YYZ'),
}

/** Returns the region of the platform that a data center lies in; null if its region, country and id do not tell. */
export function hintOf({ id, region, country }: Pick<DataCenter, 'id' | 'region' | 'country'>): LocationHint | null {
  if (region === 'EUROPE') return country === null ? null : EASTERN_EUROPE.has(country) ? 'eeur' : 'weur'
  if (region !== 'NORTH_AMERICA') return WHOLE[region] ?? null
  const [prefix = '', part = ''] = id.split('-')
  if (prefix !== country) return null
  if (WESTERN_AMERICA[prefix]?.has(part)) return 'wnam'
  return EASTERN_AMERICA[prefix]?.has(part) ? 'enam' : null
}

/** Returns the one region of the platform that all these data centers lie in; null if there are several, none, or unknown ones. */
export function hintOfAll(dataCenters: readonly Pick<DataCenter, 'id' | 'region' | 'country'>[]): LocationHint | null {
  const hints = new Set(dataCenters.map(hintOf))
  const [only = null] = hints
  return hints.size === 1 ? only : null
}

function setOf(codes: string): ReadonlySet<string> {
  return new Set(codes.split(' '))
}
