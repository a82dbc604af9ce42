import type { CatalogItem } from '../../../../contract/catalog/entries.ts'

type Entry = CatalogItem['entry']
type InForce = CatalogItem['inForce']

/** Form field for one field of a catalog entry. An empty text leaves the seeded value in force. */
export interface CatalogField {
  /** Path in the entry: a field, or a field of a nested object. */
  path: readonly [string] | readonly [string, string]
  label: string
  kind: 'number' | 'text' | 'list' | 'flag'
  /** Text that stands for null, such as a price of hardware that is not sold. */
  none?: string
  /** Reads the value in force. */
  inForce: (of: InForce) => unknown
}

/** Text of each field, by its path. */
export type CatalogTexts = Readonly<Record<string, string>>

const NOT_SOLD = 'not sold'
const USD = 'USD per unit and hour'
const at = (member: string) => (of: InForce) => of[member]
const within = (member: string, inner: string) => (of: InForce) => (of[member] as Record<string, unknown> | undefined)?.[inner]
const member = (name: string, label: string, kind: CatalogField['kind'], inForce = at(name)): CatalogField => ({
  path: [name],
  label,
  kind,
  inForce,
})
const price = (inner: string, label: string, inForce: string, none?: string): CatalogField => ({
  path: ['price', inner],
  label: `${label}, ${USD}`,
  kind: 'number',
  inForce: at(inForce),
  ...(none === undefined ? {} : { none }),
})
const tier = (type: string, inner: string, label: string): CatalogField => ({
  path: [type, inner],
  label,
  kind: 'number',
  inForce: within(type, inner),
})

/** Fields of each part of the catalog; for storage, the fields of all its prices. */
export const CATALOG_FIELDS: Readonly<Record<'gpus' | 'cpus' | 'datacenters' | 'storage', readonly CatalogField[]>> = {
  gpus: [
    price('secure', 'Secure', 'securePrice', NOT_SOLD),
    price('community', 'Community', 'communityPrice', NOT_SOLD),
    price('serverless', 'Serverless', 'serverlessPrice', NOT_SOLD),
    member('offered', 'Offered', 'flag'),
    member('maxCount', 'Maximum per pod or worker', 'number'),
    { ...member('pool', 'Pool', 'text'), none: 'none' },
    member('name', 'Name', 'text'),
    member('manufacturer', 'Manufacturer', 'text'),
    member('memory', 'Memory (GB)', 'number', at('memoryGb')),
  ],
  cpus: [
    price('securePerVcpu', 'Secure', 'securePricePerVcpu'),
    price('serverlessPerVcpu', 'Serverless', 'serverlessPricePerVcpu'),
    member('offered', 'Offered', 'flag'),
    { path: ['vcpu', 'min'], label: 'Minimum vCPUs', kind: 'number', inForce: at('minVcpu') },
    { path: ['vcpu', 'max'], label: 'Maximum vCPUs', kind: 'number', inForce: at('maxVcpu') },
    member('ramGbPerVcpu', 'Memory per vCPU (GB)', 'number'),
    member('name', 'Name', 'text'),
    member('group', 'Group', 'text'),
  ],
  datacenters: [
    member('name', 'Name', 'text'),
    member('region', 'Region', 'text'),
    { ...member('country', 'Country', 'text'), none: 'none' },
    member('networkVolumeTypes', 'Network volumes', 'list'),
    member('globalNetwork', 'Global networking', 'flag'),
    member('compliance', 'Compliance', 'list'),
  ],
  storage: [
    member('running', 'While running', 'number'),
    member('stopped', 'While stopped', 'number'),
    tier('STANDARD', 'first', 'Standard, first TB'),
    tier('STANDARD', 'further', 'Standard, above 1 TB'),
    tier('HIGH_PERFORMANCE', 'first', 'High performance, first TB'),
    tier('HIGH_PERFORMANCE', 'further', 'High performance, above 1 TB'),
  ],
}

/** Fields that an item has; for storage, only those with a value in force. */
export function fieldsOf(kind: keyof typeof CATALOG_FIELDS, { inForce }: Pick<CatalogItem, 'inForce'>): readonly CatalogField[] {
  const fields = CATALOG_FIELDS[kind]
  return kind === 'storage' ? fields.filter((field) => field.inForce(inForce) !== undefined) : fields
}

/** Returns the key of a field in `CatalogTexts`. */
export function keyOf({ path }: CatalogField): string {
  return path.join('.')
}

/** Value in force as text. */
export function valueText({ none }: CatalogField, value: unknown): string {
  if (value === null || value === undefined) return none ?? '–'
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.join(', ')
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  return String(value)
}

/**
 * Entry of the operator as texts of its fields; an entry has the shape of the values in force, with only the fields that the operator has
 * set.
 */
export function textsOf(fields: readonly CatalogField[], entry: Entry): CatalogTexts {
  return Object.fromEntries(fields.map((field) => [keyOf(field), textOf(field, field.inForce(entry))]))
}

function textOf(field: CatalogField, value: unknown): string {
  return value === undefined ? '' : valueText(field, value)
}

/** Request body of the form; `wrong`: fields that cannot be parsed. */
export function entryOf(fields: readonly CatalogField[], texts: CatalogTexts): { body: Entry; wrong: string[] } {
  const body: Record<string, unknown> = {}
  const wrong: string[] = []
  for (const field of fields) {
    const text = (texts[keyOf(field)] ?? '').trim()
    if (text === '') continue
    const value = readAs(field, text)
    if (value === undefined) wrong.push(keyOf(field))
    else put(body, field.path, value)
  }
  return { body, wrong }
}

function put(body: Record<string, unknown>, [outer, inner]: CatalogField['path'], value: unknown): void {
  body[outer] = inner === undefined ? value : { ...(body[outer] as object | undefined), [inner]: value }
}

/** Undefined if the text is not of this kind. */
function readAs({ kind, none }: CatalogField, text: string): unknown {
  if (none !== undefined && text === none) return null
  if (kind === 'list') return text === 'none' ? [] : text.split(',').map((one) => one.trim())
  if (kind === 'flag') return text === 'yes' ? true : text === 'no' ? false : undefined
  if (kind === 'text') return text
  const value = Number(text)
  return Number.isFinite(value) && value >= 0 ? value : undefined
}
