/** Rows stay well below the platform's 2 MB; local runs do not enforce that limit, so it is enforced here. */
const PIECE_BYTES = 1_000_000
/** UTF-8 takes at most this many bytes for a UTF-16 unit. */
const MAX_BYTES_PER_UNIT = 3
/** A piece with less room than this may not fit the next character. */
const MAX_CHARACTER_BYTES = 4

/** Large bodies as rows of a table with the columns `body`, `part` and `data`. */
export class PieceStore {
  private readonly sql: SqlStorage
  private readonly table: string

  constructor(sql: SqlStorage, table: 'outbox_pieces' | 'pieces') {
    this.sql = sql
    this.table = table
  }

  insert(body: number, part: number, piece: Uint8Array): void {
    this.sql.exec(`INSERT INTO ${this.table} (body, part, data) VALUES (?, ?, ?)`, body, part, piece.slice().buffer)
  }

  /** One piece; null after the last one. */
  get(body: number, part: number): Uint8Array | null {
    const row = this.sql.exec(`SELECT data FROM ${this.table} WHERE body = ? AND part = ?`, body, part).toArray()[0]
    return row ? new Uint8Array(row.data as ArrayBuffer) : null
  }

  *all(body: number): Generator<Uint8Array> {
    for (let part = 0, piece = this.get(body, 0); piece !== null; piece = this.get(body, ++part)) yield piece
  }

  remove(body: number): void {
    this.sql.exec(`DELETE FROM ${this.table} WHERE body = ?`, body)
  }

  /** The body as a stream of declared length, read row by row: many streams may be open, each too large to be held in memory. */
  stream(body: number, bytes: number): ReadableStream<Uint8Array> {
    const { readable, writable } = new FixedLengthStream(bytes)
    // If the reader gives up, the reader reports it.
    this.write(body, writable).catch(() => undefined)
    return readable
  }

  private async write(body: number, writable: WritableStream<Uint8Array>): Promise<void> {
    const writer = writable.getWriter()
    for (const piece of this.all(body)) await writer.write(piece)
    await writer.close()
  }
}

/** Encodes consecutive texts as UTF-8, in pieces that fit a row. */
export function* encodePieces(texts: readonly string[]): Generator<Uint8Array> {
  const encoder = new TextEncoder()
  const units = texts.reduce((sum, text) => sum + text.length, 0)
  if (units * MAX_BYTES_PER_UNIT <= PIECE_BYTES) {
    yield encoder.encode(texts.join(''))
    return
  }
  const piece = new Uint8Array(PIECE_BYTES)
  let used = 0
  for (const text of texts) {
    for (let at = 0; at < text.length; ) {
      const { read, written } = encoder.encodeInto(text.slice(at, at + PIECE_BYTES + 1), piece.subarray(used))
      at += read
      used += written
      if (used <= PIECE_BYTES - MAX_CHARACTER_BYTES) continue
      yield piece.subarray(0, used)
      used = 0
    }
  }
  if (used > 0) yield piece.subarray(0, used)
}

/** Cuts a stream of `bytes` bytes into pieces that fit a row. */
export async function* cutIntoPieces(stream: ReadableStream<Uint8Array>, bytes: number): AsyncGenerator<Uint8Array> {
  const piece = new Uint8Array(Math.max(1, Math.min(PIECE_BYTES, bytes)))
  let used = 0
  for await (const chunk of stream) {
    for (let at = 0; at < chunk.length; ) {
      const taken = chunk.subarray(at, at + piece.length - used)
      piece.set(taken, used)
      at += taken.length
      used += taken.length
      if (used < piece.length) continue
      yield piece
      used = 0
    }
  }
  if (used > 0) yield piece.subarray(0, used)
}
