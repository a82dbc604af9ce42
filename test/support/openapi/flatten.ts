import { type OpenApi, resolve, type Schema } from './document.ts'

/** A schema without `$ref` and `allOf`, with its alternatives separate; null is one of its types. */
export interface Flat extends Omit<Schema, '$ref' | 'allOf' | 'anyOf' | 'oneOf' | 'type'> {
  types: string[]
  alternatives: Schema[]
  conditions: number
  isClosed: boolean
}

/** The combination of all parts of a schema. */
export function flatten(document: OpenApi, schema: Schema): Flat {
  const { $ref, allOf = [], anyOf, oneOf, type, ...own } = schema
  if ($ref !== undefined) return merge(flatten(document, resolve(document, { $ref } as Schema)), flatten(document, { ...own }))
  const isNull = (option: Schema) => option.type === 'null'
  const options = anyOf ?? oneOf ?? []
  const alternatives = options.filter((option) => !isNull(option))
  const nullTypes = options.some(isNull) ? ['null'] : []
  const isClosed = own.additionalProperties === false || own.unevaluatedProperties === false
  const parts = [...allOf, ...(alternatives.length === 1 ? alternatives : [])].map((part) => flatten(document, part))
  const self: Flat = {
    ...own,
    types: [...(type === undefined ? [] : [type].flat()), ...nullTypes],
    alternatives: alternatives.length > 1 ? alternatives : [],
    conditions: own.if ? 1 : 0,
    isClosed,
  }
  return parts.reduce((whole, part) => merge(part, whole), self)
}

function merge(base: Flat, over: Flat): Flat {
  const said = Object.fromEntries(Object.entries(over).filter(([, value]) => value !== undefined))
  return {
    ...base,
    ...said,
    types: [...new Set([...base.types, ...over.types])],
    alternatives: [...base.alternatives, ...over.alternatives],
    conditions: base.conditions + over.conditions,
    isClosed: base.isClosed || over.isClosed,
    ...((base.required || over.required) && { required: [...new Set([...(base.required ?? []), ...(over.required ?? [])])] }),
    ...((base.properties || over.properties) && { properties: mergeProperties(base.properties ?? {}, over.properties ?? {}) }),
  }
}

/** A member that both sides describe has the constraints of both. */
function mergeProperties(base: Record<string, Schema>, over: Record<string, Schema>): Record<string, Schema> {
  const merged = { ...base, ...over }
  for (const name of Object.keys(base)) {
    const [first, second] = [base[name], over[name]]
    if (first && second) merged[name] = { allOf: [first, second] }
  }
  return merged
}
