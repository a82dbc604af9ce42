import type { Call } from './call.ts'

/** What is being gathered, by request and by what is read. */
const gathering = new WeakMap<Call, Map<string, { ids: Set<string>; read: Promise<ReadonlyMap<string, unknown>> }>>()

/**
 * Reads something of one id, together with those of all ids that are asked for in the same breath (GQL-30): the resolvers of a list run one
 * after another before anything that they wait for.
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
