import type { Call } from './call.ts'

/** Batches that still collect ids, by request and by kind of read. */
const gathering = new WeakMap<Call, Map<string, { ids: Set<string>; read: Promise<ReadonlyMap<string, unknown>> }>>()

/**
 * Reads one id in a batch with all ids of the same kind that are requested in the same microtask turn (GQL-30): the resolvers of a list all
 * run before any promise that they await resolves.
 */
export async function batched<Value>(
  call: Call,
  what: string,
  id: string,
  readAll: (ids: string[]) => Promise<ReadonlyMap<string, Value>>,
): Promise<Value | undefined> {
  const open = gathering.get(call) ?? new Map<string, { ids: Set<string>; read: Promise<ReadonlyMap<string, unknown>> }>()
  gathering.set(call, open)
  const joined = open.get(what)
  if (joined) {
    joined.ids.add(id)
    return (await joined.read).get(id) as Value | undefined
  }
  const ids = new Set([id])
  const read = (async () => {
    await Promise.resolve()
    open.delete(what)
    return readAll([...ids])
  })()
  open.set(what, { ids, read })
  return (await read).get(id)
}
