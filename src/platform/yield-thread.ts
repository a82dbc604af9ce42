/**
 * Lets other requests run between two pieces of long work (BIL-41). It uses a timer: a promise that resolves inside this process continues
 * before the process has read the requests of other callers.
 */
export async function yieldThread(): Promise<void> {
  await scheduler.wait(0)
}

/** Yields the items of a list in pieces of `size`, and lets other requests run in between. Choose `size` for a few milliseconds of work. */
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

/** Maps a list in pieces. */
export async function mapInPieces<From, To>(items: Iterable<From>, size: number, map: (item: From) => To): Promise<To[]> {
  const mapped: To[] = []
  for await (const piece of inPieces(items, size)) mapped.push(...piece.map(map))
  return mapped
}
