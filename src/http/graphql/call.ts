import type { VerbContext } from '../../services/context.ts'

/** One request of GraphQL, as every resolver is given it. */
export interface Call {
  /** Without a key its principal is nobody's, with no scope. */
  ctx: VerbContext
  /** Whether a key or session came along. */
  isKnown: boolean
  /** `Idempotency-Key`, as creates of v2 take it (PP-125). */
  key: string | undefined
  /** What the request has read, so that many fields read it once (GQL-30). */
  memory: Map<string, Promise<unknown>>
  /** Mutations that have begun. */
  mutations: number
  /** Items of lists that are answered. */
  listed: number
}

/** Reads something once a request, whichever fields ask for it. */
export function once<Value>({ memory }: Call, what: string, read: () => Promise<Value>): Promise<Value> {
  const known = memory.get(what)
  if (known) return known as Promise<Value>
  const reading = read()
  memory.set(what, reading)
  return reading
}

/** A resolver: what the field is of, its arguments, the request. */
// biome-ignore lint/suspicious/noExplicitAny: the schema decides what a field is of and what its arguments are; each resolver names its own
export type Resolver<Source = any, Args = any> = (source: Source, args: Args, call: Call) => unknown

/** Resolvers by type and field. */
export type Resolvers = Readonly<Record<string, Readonly<Record<string, Resolver>>>>
