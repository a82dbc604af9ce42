import {
  type GraphQLInputType,
  type GraphQLOutputType,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql'
import { SCHEMA } from './fields.ts'

/** Numbers from a seed, so that a failure can be repeated (mulberry32). */
export function numbersFrom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

const TEXTS = [
  '',
  'a',
  'nothing',
  'NVIDIA L4',
  'AMPERE_24',
  '22/tcp',
  '1,2',
  '-',
  'US',
  '12.4',
  'ssh-rsa AAAA b',
  '\u0000',
  '💥',
  'x'.repeat(300),
]
const BROKEN = ['{', '}', '(', ')', '"', '$', '@include(if: true)', '...', ':', '!', '#', ' null ', ' 1e999 ', '[', '\u0000']

/** Documents generated from the schema: most are valid, some have arguments of a wrong kind, some are syntactically broken. */
export class DocumentMaker {
  readonly #next: () => number

  constructor(seed: number) {
    this.#next = numbersFrom(seed)
  }

  make(): { query: string; variables?: unknown } {
    const isMutation = this.#chance(0.3)
    const root = isMutation ? SCHEMA.getMutationType() : SCHEMA.getQueryType()
    const document = `${isMutation ? 'mutation' : 'query'} ${this.#selection(root as GraphQLOutputType, 0)}`
    const query = this.#chance(0.15) ? this.#break(document) : document
    return this.#chance(0.1) ? { query, variables: this.#pick([null, {}, { a: 1 }, { input: {} }]) } : { query }
  }

  #selection(type: GraphQLOutputType, depth: number): string {
    const named = getNamedType(type)
    if (!isObjectType(named)) return ''
    const fields = Object.values(named.getFields())
    const wide = depth > 4 ? fields.filter((field) => !isObjectType(getNamedType(field.type))) : fields
    const from = wide.length > 0 ? wide : fields
    const count = depth === 0 ? 1 + this.#below(3) : 1 + this.#below(5)
    const parts = Array.from({ length: count }, (_, index) => {
      const field = this.#pick(from)
      const alias = this.#chance(0.5) ? `f${index}: ` : ''
      const given = field.args.filter(() => this.#chance(0.7)).map((one) => `${one.name}: ${this.#value(one.type, 0)}`)
      const selection = depth > 8 ? '' : this.#selection(field.type, depth + 1)
      return `${alias}${field.name}${given.length > 0 ? `(${given.join(', ')})` : ''} ${selection}`
    })
    if (this.#chance(0.1)) parts.push(`... on ${named.name} { __typename }`)
    return `{ ${parts.join(' ')} }`
  }

  #value(type: GraphQLInputType, depth: number): string {
    if (this.#chance(0.05)) return this.#pick(['null', '1', '"text"', 'true', '[]', '{}', 'WORD', '2147483648', '-1', '1.5'])
    if (isNonNullType(type)) return this.#value(type.ofType, depth)
    if (isListType(type)) {
      const { ofType } = type
      return `[${Array.from({ length: this.#below(3) }, () => this.#value(ofType, depth + 1)).join(', ')}]`
    }
    if (isInputObjectType(type)) {
      if (depth > 3) return '{}'
      const fields = Object.values(type.getFields()).filter(() => this.#chance(0.5))
      return `{ ${fields.map((field) => `${field.name}: ${this.#value(field.type, depth + 1)}`).join(', ')} }`
    }
    if (isEnumType(type)) return this.#pick(type.getValues()).name
    if (type.name === 'Int') return String(this.#pick([0, 1, 2, 8, -1, 1000, 2147483647]))
    if (type.name === 'Float') return String(this.#pick([0, 0.5, -1, 1e9]))
    if (type.name === 'Boolean') return String(this.#chance(0.5))
    if (type.name === 'FlashBootType') return this.#pick(['FLASHBOOT', 'OFF', '""', 'NONE'])
    return JSON.stringify(this.#pick(TEXTS))
  }

  #break(text: string): string {
    const at = this.#below(text.length)
    return this.#chance(0.5)
      ? text.slice(0, at) + text.slice(at + 1 + this.#below(8))
      : text.slice(0, at) + this.#pick(BROKEN) + text.slice(at)
  }

  #chance(of: number): boolean {
    return this.#next() < of
  }

  #below(most: number): number {
    return Math.floor(this.#next() * most)
  }

  #pick<Item>(items: readonly Item[]): Item {
    const item = items[this.#below(items.length)]
    if (item === undefined) throw new Error('nothing to choose from')
    return item
  }
}
