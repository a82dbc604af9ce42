/**
 * Lets other requests run between two pieces of long work (BIL-41). By a timer: a call that stays inside this process comes back before the
 * process has read what other callers sent.
 */
export async function yieldThread(): Promise<void> {
  await scheduler.wait(0)
}

/** The items of a list in pieces of `size`, each a few milliseconds of work; other requests run between two of them. */
export async function* inPieces<Item>(items: Iterable<Item>, size: number): AsyncGenerator<Item[]> {
  let piece: Item[] = []
  for (const item of items) {
    if (piece.length === size) {
      yield piece
      piece = []
      await yieldThread()
    }
    piece.push(item)
  }
  if (piece.length > 0) yield piece
}

/** A list as another one. */
export async function mapInPieces<From, To>(items: Iterable<From>, size: number, map: (item: From) => To): Promise<To[]> {
  const mapped: To[] = []
  for await (const piece of inPieces(items, size)) mapped.push(...piece.map(map))
  return mapped
}
