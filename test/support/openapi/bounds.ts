import { type OpenApi, type Parameter, type placedOperations, resolve, type Schema } from './document.ts'
import { type Flat, flatten } from './flatten.ts'

/** Keywords of a schema that bound a value; `type` covers the kinds for which a text or another kind could be taken. */
export const BOUND_KEYWORDS = [
  'minimum',
  'maximum',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'minProperties',
  'uniqueItems',
  'enum',
  'pattern',
  'format',
  'propertyNames',
  'type',
] as const
export type BoundKeyword = (typeof BOUND_KEYWORDS)[number]

/** A step into a body: a member, one of several alternatives, an element of a list, or a member with a free name. */
export type Step = { member: string } | { alternative: number } | 'element' | 'free'

/** A place in a request that a document bounds. */
export interface Place {
  parameter: Parameter | null
  steps: readonly Step[]
  flat: Flat
}

/** One keyword of a place. */
export interface Bound extends Place {
  word: BoundKeyword
}

/** The name of the one free member that a test sends. */
export const FREE_NAME = 'FREE'
/** Formats that describe the width of a number or the display of a text, and refuse nothing. */
const FORMATS_WITHOUT_BOUND = ['int32', 'int64', 'float', 'double', 'password']
const BOUND_TYPES = ['integer', 'number', 'boolean']

/** Every bound of the parameters and of the body of an operation. */
export function boundsOf(document: OpenApi, { parameters, operation }: ReturnType<typeof placedOperations>[number]): Bound[] {
  const own = parameters.flatMap((parameter) => boundsWithin(document, parameter.schema, { parameter, steps: [] }, []))
  const body = operation.requestBody && resolve(document, operation.requestBody as { $ref?: string } & typeof operation.requestBody)
  const schema = body?.content['application/json']?.schema
  return schema ? [...own, ...boundsWithin(document, schema, { parameter: null, steps: [] }, [])] : own
}

function boundsWithin(document: OpenApi, schema: Schema, at: Omit<Place, 'flat'>, seen: readonly string[]): Bound[] {
  if (schema.$ref !== undefined && seen.includes(schema.$ref)) return []
  const known = schema.$ref === undefined ? seen : [...seen, schema.$ref]
  const flat = flatten(document, schema)
  const inside = (child: Schema, step: Step) => boundsWithin(document, child, { ...at, steps: [...at.steps, step] }, known)
  return [
    ...BOUND_KEYWORDS.filter((word) => isBound(flat, word)).map((word) => ({ ...at, flat, word })),
    ...flat.alternatives.flatMap((option, alternative) => inside(option, { alternative })),
    ...Object.entries(flat.properties ?? {}).flatMap(([member, child]) => inside(child, { member })),
    ...(flat.items ? inside(flat.items, 'element') : []),
    ...(typeof flat.additionalProperties === 'object' ? inside(flat.additionalProperties, 'free') : []),
  ]
}

function isBound(flat: Flat, word: BoundKeyword): boolean {
  if (word === 'type') return flat.types.some((type) => BOUND_TYPES.includes(type))
  if (word === 'format') return flat.format !== undefined && !FORMATS_WITHOUT_BOUND.includes(flat.format)
  // Every text is at least zero long, and every list has at least zero elements.
  if (word === 'minLength' || word === 'minItems') return (flat[word] ?? 0) > 0
  if (word === 'propertyNames') return flat.propertyNames?.pattern !== undefined
  return flat[word] !== undefined
}

/** The place as a refusal names it: `$.gpu.pools[0]`. */
export function locationOf({ parameter, steps }: Pick<Place, 'parameter' | 'steps'>): string {
  const start = parameter ? `$.${parameter.name}` : '$'
  return steps.reduce<string>((at, step) => {
    if (step === 'element') return `${at}[0]`
    if (step === 'free') return `${at}.${FREE_NAME}`
    return 'member' in step ? `${at}.${step.member}` : at
  }, start)
}
