import fc from 'fast-check'
import { valueFault } from './answers.ts'
import { type Bound, type BoundKeyword, FREE_NAME, type Step } from './bounds.ts'
import type { OpenApi, Schema } from './document.ts'
import { type Flat, flatten } from './flatten.ts'

/** Values at a bound, which are allowed, and values one beyond it, which are not. */
export interface Sides {
  within: readonly unknown[]
  beyond: readonly unknown[]
}

const SEED = 1
const TIME = '2026-06-01T12:00:00Z'
/** Texts of which one matches, or violates, nearly every pattern; those allowed in a header are first. */
const TEXTS = ['a', 'A', '1', '12.8', '8888/http', '/data', 'a@b', 'EU-RO-1', 'a b', '-', '!', ' ', '', 'é', '/', '\u0000', '\u202e']
/** Fillers for texts of a required length, after a beginning that the pattern may require. */
const FILLS = ['a', '1', '1.1', '/a', '12.8', 'a@a', 'A']

/** The longest tag and digest of an image: the part before them is its name. */
const IMAGE_TAIL = `:${'t'.repeat(128)}@sha512:${'0'.repeat(128)}`

/** Both sides of a bound; null where no values are known. */
export function sidesOf(document: OpenApi, { flat, word, steps }: Bound): Sides | null {
  const last = steps.at(-1)
  if (word === 'maxLength' && typeof last === 'object' && 'member' in last && last.member === 'image') {
    const image = (length: number) => IMAGE_TAIL.padStart(length, 'a')
    return { within: [image(flat.maxLength ?? 0)], beyond: [image((flat.maxLength ?? 0) + 1)] }
  }
  return MAKERS[word](document, flat)
}

const MAKERS: Readonly<Record<BoundKeyword, (document: OpenApi, flat: Flat) => Sides | null>> = {
  minimum: (_, { minimum = 0, types }) => ({ within: [minimum], beyond: [minimum - (types.includes('integer') ? 1 : 0.01)] }),
  maximum: (_, { maximum = 0, types }) => ({ within: [maximum], beyond: [maximum + (types.includes('integer') ? 1 : 0.01)] }),
  minLength: (_, flat) => lengths(flat, flat.minLength ?? 0, (flat.minLength ?? 0) - 1),
  maxLength: (_, flat) => lengths(flat, flat.maxLength ?? 0, (flat.maxLength ?? 0) + 1),
  minItems: (document, flat) => counts(document, flat, flat.minItems ?? 0, (flat.minItems ?? 0) - 1),
  maxItems: (document, flat) => counts(document, flat, flat.maxItems ?? 0, (flat.maxItems ?? 0) + 1),
  minProperties: (document, flat) => {
    const [name, schema] = Object.entries(flat.properties ?? {})[0] ?? []
    return name === undefined || schema === undefined ? null : { within: [{ [name]: sampleOf(document, schema) }], beyond: [{}] }
  },
  uniqueItems: (document, flat) => {
    const item = flat.items && sampleOf(document, flat.items)
    return item === undefined ? null : { within: [[item]], beyond: [[item, item]] }
  },
  enum: (_, flat) => ({ within: flat.enum ?? [], beyond: ['no-such-value'] }),
  pattern: (_, flat) => {
    const within = matching(flat)
    const beyond = TEXTS.find((text) => !new RegExp(flat.pattern ?? '', 'u').test(text) && fitsLength(flat, text))
    return within === null || beyond === undefined ? null : { within: [within], beyond: [beyond] }
  },
  format: (_, { format }) => {
    if (format === 'date-time') return { within: [TIME, '2026-06-01T12:00:00.5+02:00'], beyond: ['yesterday', '2026-02-30T00:00:00Z'] }
    if (format === 'uri') return { within: ['https://hooks.example.com/a'], beyond: ['no-scheme'] }
    return null
  },
  propertyNames: (_, { propertyNames, additionalProperties }) => {
    const name = matching({ types: ['string'], alternatives: [], conditions: 0, isClosed: false, ...propertyNames })
    return name === null || additionalProperties === false ? null : { within: [{ [name]: 'a' }], beyond: [{ '': 'a' }, { 'a b': 'a' }] }
  },
  type: (_, { types, minimum = 1, maximum = Number.MAX_SAFE_INTEGER, enum: values }) => {
    if (types.includes('boolean')) return { within: [true, false], beyond: ['maybe'] }
    const whole = Math.min(Math.ceil(minimum), maximum)
    return types.includes('integer') ? { within: [values?.[0] ?? whole], beyond: [whole + 0.5, 'x'] } : { within: [whole], beyond: ['x'] }
  },
}

function lengths(flat: Flat, within: number, beyond: number): Sides | null {
  const text = textOf(flat, within)
  if (text === null || beyond < 0) return null
  const { minLength: _, maxLength: __, ...unbounded } = flat
  // Beyond the bound only the length should be wrong; for a text without characters that is all there is.
  const wrong = textOf(unbounded, beyond)
  return { within: [text], beyond: [wrong ?? 'a'.repeat(beyond)] }
}

/** A text of this many characters that matches the pattern. */
function textOf(flat: Flat, length: number): string | null {
  const examples = typeof flat.example === 'string' && flat.example !== '' ? [flat.example] : []
  const texts = [...FILLS, ...examples].map((fill) => fill.slice(0, length).padEnd(length, fill.at(-1) ?? 'a'))
  return texts.find((text) => fits(flat, text)) ?? null
}

function counts(document: OpenApi, flat: Flat, within: number, beyond: number): Sides | null {
  if (!flat.items) return null
  const items = flat.items
  const inner = flatten(document, items)
  const values = inner.enum ?? [sampleOf(document, items)]
  const list = (length: number) => Array.from({ length }, (_, index) => values[index % values.length])
  return { within: [list(within)], beyond: [list(beyond)] }
}

function fits(flat: Flat, text: string): boolean {
  return fitsLength(flat, text) && (flat.pattern === undefined || new RegExp(flat.pattern, 'u').test(text))
}

function fitsLength({ minLength = 0, maxLength = Number.POSITIVE_INFINITY }: Flat, text: string): boolean {
  return text.length >= minLength && text.length <= maxLength
}

function matching(flat: Flat): string | null {
  const examples = typeof flat.example === 'string' ? [flat.example] : []
  const known = [...examples, ...TEXTS].find((text) => fits(flat, text))
  if (known !== undefined || flat.pattern === undefined) return known ?? null
  const made = fc.sample(fc.stringMatching(new RegExp(flat.pattern)), { numRuns: 50, seed: SEED })
  return made.find((text) => fits(flat, text)) ?? null
}

/** A minimal value that a schema allows: its required members alone. */
export function sampleOf(document: OpenApi, schema: Schema): unknown {
  const flat = flatten(document, schema)
  if (flat.const !== undefined) return flat.const
  if (flat.enum) return flat.enum[0]
  const isSmall = flat.example !== undefined && !flat.types.includes('object')
  if (isSmall && valueFault(document, schema, flat.example) === null) return flat.example
  if (flat.alternatives[0]) return sampleOf(document, flat.alternatives[0])
  const type = flat.types.find((one) => one !== 'null')
  if (type === 'string') return flat.format === 'date-time' ? TIME : (matching(flat) ?? '')
  if (type === 'integer' || type === 'number') return Math.max(flat.minimum ?? 1, Math.min(1, flat.maximum ?? 1))
  if (type === 'boolean') return true
  if (type === 'array') return Array.from({ length: flat.minItems ?? 0 }, () => sampleOf(document, flat.items ?? {}))
  return sampleObject(document, flat)
}

function sampleObject(document: OpenApi, { required = [], properties = {} }: Flat): Record<string, unknown> {
  return Object.fromEntries(required.flatMap((name) => (properties[name] ? [[name, sampleOf(document, properties[name])]] : [])))
}

/** A body with a value at the place of the steps, and the required members around it. */
export function bodyAround(document: OpenApi, schema: Schema, [step, ...rest]: readonly Step[], value: unknown): unknown {
  if (step === undefined) return value
  const flat = flatten(document, schema)
  if (step === 'element') {
    const others = Array.from({ length: Math.max(0, (flat.minItems ?? 1) - 1) }, () => sampleOf(document, flat.items ?? {}))
    return [bodyAround(document, flat.items ?? {}, rest, value), ...others]
  }
  if (step === 'free') {
    const free = flat.additionalProperties as Schema
    return { ...sampleObject(document, flat), [FREE_NAME]: bodyAround(document, free, rest, value) }
  }
  if ('alternative' in step) return bodyAround(document, flat.alternatives[step.alternative] ?? {}, rest, value)
  const inner = bodyAround(document, flat.properties?.[step.member] ?? {}, rest, value)
  return { ...sampleObject(document, flat), [step.member]: inner }
}
