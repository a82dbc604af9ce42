import type { CatalogItem } from '../../../../contract/catalog/entries.ts'

type Entry = CatalogItem['entry']
type InForce = CatalogItem['inForce']

/** One member of an entry, as a field of a form. Left empty it is as seeded. */
export interface CatalogField {
  /** Where it stands in the entry: a member, or a member of one. */
  path: readonly [string] | readonly [string, string]
  label: string
  kind: 'number' | 'text' | 'list' | 'flag'
  /** What one types for a member that is nothing, such as a price at which it is not sold. */
  none?: string
  /** Its value among what the plane goes by. */
  inForce: (of: InForce) => unknown
}

/** What has been typed, by the paths of the fields. */
export type CatalogTexts = Readonly<Record<string, string>>

const NOT_SOLD = 'not sold'
const USD = 'USD for one and hour'
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

/** The fields of each part of the catalog; storage has those of the price that is changed. */
export const CATALOG_FIELDS: Readonly<Record<'gpus' | 'cpus' | 'datacenters' | 'storage', readonly CatalogField[]>> = {
  gpus: [
    price('secure', 'Secure', 'securePrice', NOT_SOLD),
    price('community', 'Community', 'communityPrice', NOT_SOLD),
    price('serverless', 'Serverless', 'serverlessPrice', NOT_SOLD),
    member('offered', 'Offered', 'flag'),
    member('maxCount', 'At most in one pod or worker', 'number'),
    { ...member('pool', 'Pool', 'text'), none: 'none' },
    member('name', 'Name', 'text'),
    member('manufacturer', 'Manufacturer', 'text'),
    member('memory', 'Memory (GB)', 'number', at('memoryGb')),
  ],
  cpus: [
    price('securePerVcpu', 'Secure', 'securePricePerVcpu'),
    price('serverlessPerVcpu', 'Serverless', 'serverlessPricePerVcpu'),
    member('offered', 'Offered', 'flag'),
    { path: ['vcpu', 'min'], label: 'vCPUs at least', kind: 'number', inForce: at('minVcpu') },
    { path: ['vcpu', 'max'], label: 'vCPUs at most', kind: 'number', inForce: at('maxVcpu') },
    member('ramGbPerVcpu', 'Memory of each vCPU (GB)', 'number'),
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
    member('running', 'While it runs', 'number'),
    member('stopped', 'While it is stopped', 'number'),
    tier('STANDARD', 'first', 'Standard, the first TB'),
    tier('STANDARD', 'further', 'Standard, beyond it'),
    tier('HIGH_PERFORMANCE', 'first', 'High performance, the first TB'),
    tier('HIGH_PERFORMANCE', 'further', 'High performance, beyond it'),
  ],
}

/** The fields that an item can have: of a price of storage, those that are in force. */
export function fieldsOf(kind: keyof typeof CATALOG_FIELDS, { inForce }: Pick<CatalogItem, 'inForce'>): readonly CatalogField[] {
  const fields = CATALOG_FIELDS[kind]
  return kind === 'storage' ? fields.filter((field) => field.inForce(inForce) !== undefined) : fields
}

export function keyOf({ path }: CatalogField): string {
  return path.join('.')
}

/** What is in force of a field, in words. */
export function wordsOf({ none }: CatalogField, value: unknown): string {
  if (value === null || value === undefined) return none ?? '–'
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.join(', ')
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  return String(value)
}

/** An entry as texts of its fields; it has the members of what is in force, those that the operator said. */
export function textsOf(fields: readonly CatalogField[], entry: Entry): CatalogTexts {
  return Object.fromEntries(fields.map((field) => [keyOf(field), textOf(field, field.inForce(entry))]))
}

function textOf(field: CatalogField, value: unknown): string {
  return value === undefined ? '' : wordsOf(field, value)
}

/** What has been typed, as it is sent; `wrong`: the fields that cannot be read. */
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

/** Undefined: the text is none of this kind. */
function readAs({ kind, none }: CatalogField, text: string): unknown {
  if (none !== undefined && text === none) return null
  if (kind === 'list') return text === 'none' ? [] : text.split(',').map((one) => one.trim())
  if (kind === 'flag') return text === 'yes' ? true : text === 'no' ? false : undefined
  if (kind === 'text') return text
  const value = Number(text)
  return Number.isFinite(value) && value >= 0 ? value : undefined
}
