import type { VerbContext } from '../../services/context.ts'

/** The context of one GraphQL request, which every resolver receives. */
export interface Call {
  /** Without a key, the principal is `ANONYMOUS`, with no scope. */
  ctx: VerbContext
  /** Whether the request carries a key or a session. */
  isKnown: boolean
  /** The `Idempotency-Key`, as in creates of v2 (IDEM-2). */
  key: string | undefined
  /** Reads of this request, so that many fields share one read (GQL-30). */
  memory: Map<string, Promise<unknown>>
  /** Number of mutations that have started. */
  mutations: number
  /** Number of list items answered so far. */
  listed: number
}

/** Runs a read once per request and shares its result between fields. */
export function once<Value>({ memory }: Call, what: string, read: () => Promise<Value>): Promise<Value> {
  const known = memory.get(what)
  if (known) return known as Promise<Value>
  const reading = read()
  memory.set(what, reading)
  return reading
}

/** A resolver. Its arguments are the parent object, the field's arguments and the request. */
// biome-ignore lint/suspicious/noExplicitAny: the schema decides what a field is of and what its arguments are; each resolver names its own
export type Resolver<Source = any, Args = any> = (source: Source, args: Args, call: Call) => unknown

/** Resolvers by type and field. */
export type Resolvers = Readonly<Record<string, Readonly<Record<string, Resolver>>>>
