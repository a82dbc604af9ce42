import { yieldThread } from '../platform/yield-thread.ts'

/** Rows that are read and opened at a time, where each contains a spec: a few milliseconds. */
const OPENED_AT_ONCE = 128

/** Position in a list: by age or, in order of names, by `name`, with the id to break ties. */
export interface ListPosition {
  createdAt: number
  id: string
  /** Only in a list in order of names. */
  name?: string
}

/** The first `limit` rows after a position, in the order of a list, in pieces; other requests run in between (RATE-20). */
export async function* rowsInPieces<Row extends { position: Position }, Position>(
  after: Position | null,
  limit: number,
  read: (after: Position | null, limit: number) => Promise<Row[]>,
  atOnce = OPENED_AT_ONCE,
): AsyncGenerator<Row[]> {
  let behind = after
  for (let left = limit; left > 0; left -= atOnce) {
    const size = Math.min(atOnce, left)
    const rows = await read(behind, size)
    yield rows
    if (rows.length < size) return
    behind = rows.at(-1)?.position ?? behind
    await yieldThread()
  }
}

/** All pieces of `rowsInPieces` as one list. */
export async function readInPieces<Row extends { position: Position }, Position>(
  ...list: Parameters<typeof rowsInPieces<Row, Position>>
): Promise<Row[]> {
  const all: Row[] = []
  for await (const rows of rowsInPieces(...list)) all.push(...rows)
  return all
}
