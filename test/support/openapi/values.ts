import fc from 'fast-check'
import type { OpenApi, Schema } from './document.ts'
import { type Flat, flatten } from './flatten.ts'

/** A placeholder for the id of a resource of the caller; the sender of the request fills it in. */
export const OWN_ID = /^@(template|registry|networkVolume|globalVolume)$/
const OWN_IDS = ['@template', '@registry', '@networkVolume', '@globalVolume']

/** Values that match few schemas and break careless code. */
export const ODD_VALUES: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1.5,
  -0,
  1e308,
  2 ** 31,
  2 ** 53,
  '',
  ' ',
  'null',
  'NaN',
  '1e3',
  '\u0000',
  '\ud800',
  'a\udc00b',
  '\u202e\u200b',
  '💥'.repeat(20),
  'x'.repeat(300),
  'y'.repeat(20_000),
  '../../etc/passwd',
  "'; DROP TABLE users; --",
  '%00',
  '{{ RUNPOD_SECRET_A }}',
  '2026-02-30T00:00:00Z',
  [],
  [null],
  [[[]]],
  {},
  { toString: 1 },
  { constructor: { prototype: {} } },
]

/** A change at one place of a value: its kind, and its place, counted through all places. */
export interface Mutation {
  at: number
  change: 'remove' | 'add' | 'replace' | 'repeat' | 'negate'
  value: unknown
}

export const mutations: fc.Arbitrary<Mutation[]> = fc.array(
  fc.record({
    at: fc.nat(200),
    change: fc.constantFrom('remove', 'add', 'replace', 'replace', 'repeat', 'negate') as fc.Arbitrary<Mutation['change']>,
    value: fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...ODD_VALUES) }, { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 2 }) }),
  }),
  { maxLength: 3 },
)

/** A value with changes. */
export function mutate(value: unknown, changes: readonly Mutation[]): unknown {
  const root = { root: structuredClone(value) }
  for (const change of changes) {
    const places = placesIn(root)
    const place = places[change.at % places.length]
    if (place) apply(place, change)
  }
  return root.root
}

interface Place {
  holder: Record<string, unknown>
  key: string
}

function placesIn(value: unknown): Place[] {
  if (typeof value !== 'object' || value === null) return []
  const holder = value as Record<string, unknown>
  return Object.keys(holder).flatMap((key) => [{ holder, key }, ...placesIn(holder[key])])
}

function apply({ holder, key }: Place, { change, ...mutation }: Mutation): void {
  // A copy, because a later change would otherwise alter the value shared by all mutations.
  const value = structuredClone(mutation.value)
  const present = holder[key]
  if (change === 'remove' && key !== 'root') delete holder[key]
  else if (change === 'add' && typeof present === 'object' && present !== null) Object.assign(present, { added: value })
  else if (change === 'repeat' && Array.isArray(present)) holder[key] = Array.from({ length: 200 }, () => present[0])
  else if (change === 'negate' && typeof present === 'number') holder[key] = -present
  else holder[key] = value
}

/** Values of which most match a schema. */
export function fittingValue(document: OpenApi, schema: Schema, name = '', depth = 0): fc.Arbitrary<unknown> {
  const flat = flatten(document, schema)
  const examples: fc.Arbitrary<unknown>[] = typeof flat.example === 'object' ? [fc.constant(flat.example)] : []
  if (flat.enum) return fc.constantFrom(...flat.enum)
  if (flat.const !== undefined) return fc.constant(flat.const)
  if (flat.alternatives.length > 0) return fc.oneof(...flat.alternatives.map((option) => fittingValue(document, option, name, depth + 1)))
  const types = flat.types.length > 0 ? flat.types : ['any']
  return fc.oneof(...examples, ...types.map((type) => typedValue(document, flat, type, name, depth)))
}

function typedValue(document: OpenApi, flat: Flat, type: string, name: string, depth: number): fc.Arbitrary<unknown> {
  if (type === 'string') return textOf(flat, name)
  if (type === 'boolean') return fc.boolean()
  if (type === 'null') return fc.constant(null)
  if (type === 'integer') return fc.constantFrom(...boundsOf(flat))
  if (type === 'number') return fc.oneof(fc.constantFrom(...boundsOf(flat)), fc.constant((flat.minimum ?? 0) + 0.25))
  if (type === 'array') {
    return fc.array(fittingValue(document, flat.items ?? {}, name, depth + 1), {
      minLength: flat.minItems ?? 0,
      maxLength: Math.max(2, flat.minItems ?? 0),
    })
  }
  return type === 'object' && depth < 6 ? objectOf(document, flat, depth) : fc.jsonValue({ maxDepth: 1 })
}

function objectOf(document: OpenApi, flat: Flat, depth: number): fc.Arbitrary<unknown> {
  const members = Object.entries(flat.properties ?? {}).map(([name, schema]): [string, fc.Arbitrary<unknown>] => [
    name,
    fittingValue(document, schema, name, depth + 1),
  ])
  const requiredKeys = (flat.required ?? []).filter((key) => flat.properties?.[key])
  const record: Record<string, fc.Arbitrary<unknown>> = Object.fromEntries(members)
  const named = fc.record(record, { requiredKeys })
  const { additionalProperties } = flat
  if (typeof additionalProperties !== 'object') return named
  const free = fc.dictionary(fc.constantFrom('A', 'B_C', 'PATH'), fittingValue(document, additionalProperties, '', depth + 1), {
    maxKeys: 2,
  })
  return fc.tuple(named, free).map(([own, more]) => ({ ...more, ...(own as object) }))
}

function textOf(flat: Flat, name: string): fc.Arbitrary<unknown> {
  const plain = fc.string({ minLength: flat.minLength ?? 0, maxLength: Math.min(flat.maxLength ?? 24, 24) })
  const example: fc.Arbitrary<unknown>[] = typeof flat.example === 'string' ? [fc.constant(flat.example)] : []
  if (flat.format === 'date-time') return fc.constantFrom('2026-06-01T12:00:00Z', '2020-01-01T00:00:00+02:00', '9999-12-31T23:59:59Z')
  if (/^(templateId|registry|volumeId|networkVolumes|id)$/.test(name)) return fc.oneof(fc.constantFrom(...OWN_IDS), plain, ...example)
  return fc.oneof(plain, ...example, ...matching(flat.pattern))
}

/** Texts of a pattern, where the library can generate them. */
function matching(pattern: string | undefined): fc.Arbitrary<string>[] {
  if (pattern === undefined || pattern.includes('\\u')) return []
  try {
    return [fc.stringMatching(new RegExp(pattern))]
  } catch {
    return []
  }
}

function boundsOf({ minimum = 0, maximum = 2 ** 31 - 1 }: Flat): [number, ...number[]] {
  const inner = [minimum + 1, minimum + 7, 10, 64].filter((value) => value <= maximum && value >= minimum)
  return [minimum, ...inner, maximum]
}
