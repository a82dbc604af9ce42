import { type Answer, type OpenApi, type Parameter, type Placed, placedOperations, resolve, type Schema } from './document.ts'
import { type Flat, flatten } from './flatten.ts'

type Side = 'request' | 'answer'

/** The result of a comparison: the number of compared things, and each difference, by a name that tables can hold. */
export interface Comparison {
  compared: number
  differences: Map<string, string>
}

/** Keywords of a schema that must be equal. */
const SAME = [
  'format',
  'pattern',
  'minimum',
  'maximum',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'minProperties',
  'uniqueItems',
  'dependentRequired',
] as const

/** Whether everything that a reference document names is in ours: paths, methods, parameters, answers, members and their bounds. */
export function compareDocuments(reference: OpenApi, ours: OpenApi): Comparison {
  const comparer = new Comparer(reference, ours)
  const own = new Map(placedOperations(ours).map((placed) => [placed.name, placed]))
  for (const placed of placedOperations(reference)) {
    const found = own.get(placed.name)
    comparer.check(placed.name, found !== undefined, 'no such operation')
    if (found) comparer.operation(placed, found)
  }
  return comparer
}

class Comparer implements Comparison {
  compared = 0
  differences = new Map<string, string>()
  readonly #seen = new Set<string>()
  readonly #reference: OpenApi
  readonly #ours: OpenApi

  constructor(reference: OpenApi, ours: OpenApi) {
    this.#reference = reference
    this.#ours = ours
  }

  check(name: string, holds: boolean, found: string): void {
    this.compared += 1
    if (!holds) this.differences.set(name, found)
  }

  operation(wanted: Placed, found: Placed): void {
    for (const parameter of wanted.parameters) this.#parameter(`${wanted.name} ${parameter.in} ${parameter.name}`, parameter, found)
    this.#body(wanted, found)
    for (const [status, answer] of Object.entries(wanted.operation.responses)) {
      const own = found.operation.responses[status]
      const name = `${wanted.name} ${status}`
      this.check(name, own !== undefined, 'no such answer')
      if (own) this.#answer(name, resolve(this.#reference, answer), resolve(this.#ours, own))
    }
  }

  #parameter(name: string, wanted: Parameter, found: Placed): void {
    const own = found.parameters.find((parameter) => parameter.name === wanted.name && parameter.in === wanted.in)
    this.check(name, own !== undefined, 'no such parameter')
    if (!own) return
    this.check(`${name}: required`, (own.required ?? false) === (wanted.required ?? false), String(own.required ?? false))
    if (wanted.schema.type === 'array') {
      this.check(`${name}: explode`, (own.explode ?? true) === (wanted.explode ?? true), String(own.explode ?? true))
    }
    this.#schema('request', name, wanted.schema, own.schema)
  }

  #body(wanted: Placed, found: Placed): void {
    const body = wanted.operation.requestBody
    if (!body) return
    const own = found.operation.requestBody
    this.check(`${wanted.name} body`, own !== undefined, 'no body')
    if (!own) return
    this.check(`${wanted.name} body: required`, own.required === body.required, String(own.required))
    this.#content('request', `${wanted.name} body`, body.content, own.content)
  }

  #answer(name: string, wanted: Answer, own: Answer): void {
    for (const [header, { schema }] of Object.entries(wanted.headers ?? {})) {
      const found = own.headers?.[header]
      this.check(`${name} header ${header}`, found !== undefined, 'no such header')
      const type = found && resolve(this.#ours, found).schema?.type
      if (schema?.type) this.check(`${name} header ${header}: type`, type === schema.type, String(type))
    }
    this.#content('answer', name, wanted.content ?? {}, own.content ?? {})
  }

  #content(side: Side, name: string, wanted: NonNullable<Answer['content']>, own: NonNullable<Answer['content']>): void {
    for (const [type, { schema }] of Object.entries(wanted)) {
      const found = own[type]
      this.check(`${name} ${type}`, found !== undefined, `only ${Object.keys(own).join(', ')}`)
      if (found && schema) this.#schema(side, name, schema, found.schema)
    }
  }

  #schema(side: Side, place: string, wanted: Schema, own: Schema): void {
    const component = wanted.$ref?.split('/').at(-1)
    const at = component ?? place
    const pair = `${side} ${at} ${JSON.stringify(own)}`
    if (component && this.#seen.has(pair)) return
    this.#seen.add(pair)
    const [left, right] = [flatten(this.#reference, wanted), flatten(this.#ours, own)]
    const name = `${side} ${at}`
    const isUnion = left.alternatives.length > 0
    if (isUnion || right.alternatives.length > 0) {
      this.#alternatives(side, at, isUnion ? left.alternatives : [wanted], right)
      return
    }
    this.#values(side, name, left, right)
    if (left.properties) this.#members(side, at, left, right)
    if (left.items) {
      this.check(`${name}[]`, right.items !== undefined, 'no list')
      if (right.items) this.#schema(side, `${at}[]`, left.items, right.items)
    }
  }

  /** Each alternative must be one of ours: the one that differs least. */
  #alternatives(side: Side, at: string, wanted: readonly Schema[], own: Flat): void {
    const { types, alternatives, ...words } = own
    const options = alternatives.length > 0 ? alternatives : [words]
    const others = types.map((type) => ({ type }))
    for (const alternative of wanted) {
      const tries = options.map((option) => {
        const attempt = new Comparer(this.#reference, this.#ours)
        attempt.#schema(side, at, alternative, { ...words, anyOf: [option, ...others] })
        return attempt
      })
      this.#takeBest(tries)
    }
  }

  #takeBest(tries: readonly Comparer[]): void {
    const best = tries.toSorted((a, b) => a.differences.size - b.differences.size)[0]
    this.compared += best?.compared ?? 0
    for (const [name, found] of best?.differences ?? []) this.differences.set(name, found)
  }

  #values(side: Side, name: string, wanted: Flat, own: Flat): void {
    const text = (value: unknown) => JSON.stringify(value) ?? 'nothing'
    if (wanted.types.length > 0) {
      const fits = side === 'request' ? holds(own.types, wanted.types) : own.types.length > 0 && holds(wanted.types, own.types)
      this.check(`${name}: type`, fits, text(own.types))
    }
    // The default of a member that an answer omits is not needed by a reader.
    for (const word of side === 'request' ? ([...SAME, 'default'] as const) : SAME) {
      if (wanted[word] !== undefined) this.check(`${name}: ${word}`, text(wanted[word]) === text(own[word]), text(own[word]))
    }
    for (const value of wanted.enum ?? []) {
      this.check(`${name}: value ${value}`, (own.enum ?? [own.const]).includes(value), text(own.enum ?? own.const))
    }
    if (wanted.isClosed) this.check(`${name}: closed`, own.isClosed, 'other members are allowed')
    if (wanted.conditions > 0) this.check(`${name}: condition`, own.conditions >= wanted.conditions, 'no condition')
  }

  #members(side: Side, at: string, wanted: Flat, own: Flat): void {
    const required = new Set(own.required)
    for (const [member, schema] of Object.entries(wanted.properties ?? {})) {
      const name = `${side} ${at}.${member}`
      const found = own.properties?.[member]
      this.check(name, found !== undefined, 'no such member')
      if (!found) continue
      const isRequired = wanted.required?.includes(member) ?? false
      // A request that the reference allows must be allowed here, and a member that its answers always have must always be here.
      if (isRequired || side === 'request')
        this.check(`${name}: required`, required.has(member) === isRequired, String(required.has(member)))
      this.#schema(side, `${at}.${member}`, schema, found)
    }
  }
}

/** Whether all of some types are allowed. */
function holds(allowed: readonly string[], types: readonly string[]): boolean {
  return types.every((type) => allowed.includes(type) || (type === 'integer' && allowed.includes('number')))
}
