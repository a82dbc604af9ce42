const FRAME = 0xfd2fb528
/** The upper 28 bits of the magic number; the last four bits are arbitrary. */
const SKIPPABLE = 0x184d2a5
const FRAME_HEADER_START = 5
const BLOCK_HEADER = 3
const CHECKSUM = 4
/** Bytes of the dictionary id, and of the content size (a single segment's smallest form has 1 instead of 0). */
const DICTIONARY_ID = [0, 1, 2, 4]
const CONTENT_SIZE = [0, 2, 4, 8]
const [SAME_BYTE, RESERVED] = [1, 3]

/** Whether bytes begin with a zstd frame, skippable or not. */
export function isZstd(head: Buffer): boolean {
  return head.length >= 4 && (head.readUInt32LE() === FRAME || isSkippable(head.readUInt32LE()))
}

/**
 * Yields the frames of zstd data in chunks that never contain the end of one frame and the start of the next: Node's decompressor drops the
 * bytes behind the end of a frame in the same chunk. Skippable frames are left out. Throws for malformed data.
 */
export async function* zstdFrames(packed: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const input = new Input(packed)
  try {
    while (await input.has(1)) {
      const magic = (await input.peek(4)).readUInt32LE()
      if (isSkippable(magic)) for await (const _ of input.take(8 + (await input.peek(8)).readUInt32LE(4)));
      else if (magic === FRAME) yield* frame(input)
      else throw new Error('what follows a frame is none')
    }
  } finally {
    await input.close()
  }
}

async function* frame(input: Input): AsyncGenerator<Buffer> {
  const descriptor = (await input.peek(FRAME_HEADER_START)).readUInt8(4)
  const isSingle = (descriptor & 0x20) !== 0
  const size = CONTENT_SIZE[descriptor >> 6] || (isSingle ? 1 : 0)
  yield* input.take(FRAME_HEADER_START + (isSingle ? 0 : 1) + (DICTIONARY_ID[descriptor & 3] ?? 0) + size)
  for (let isLast = false; !isLast; ) {
    const header = (await input.peek(BLOCK_HEADER)).readUIntLE(0, BLOCK_HEADER)
    const type = (header >> 1) & 3
    if (type === RESERVED) throw new Error('a block of an unknown type')
    isLast = (header & 1) === 1
    yield* input.take(BLOCK_HEADER + (type === SAME_BYTE ? 1 : header >> 3))
  }
  if ((descriptor & 4) !== 0) yield* input.take(CHECKSUM)
}

function isSkippable(magic: number): boolean {
  return magic >>> 4 === SKIPPABLE
}

/** Reads an async sequence of chunks by length. */
class Input {
  private readonly pieces: AsyncIterator<Buffer>
  private rest: Buffer = Buffer.alloc(0)

  constructor(packed: AsyncIterable<Buffer>) {
    this.pieces = packed[Symbol.asyncIterator]()
  }

  async has(bytes: number): Promise<boolean> {
    while (this.rest.length < bytes) {
      const { done, value } = await this.pieces.next()
      if (done === true) return false
      this.rest = this.rest.length === 0 ? value : Buffer.concat([this.rest, value])
    }
    return true
  }

  /** Returns the next bytes without consuming them. Throws when the data ends before. */
  async peek(bytes: number): Promise<Buffer> {
    if (!(await this.has(bytes))) throw new Error('it ends in the middle of a frame')
    return this.rest.subarray(0, bytes)
  }

  async *take(bytes: number): AsyncGenerator<Buffer> {
    for (let left = bytes; left > 0; ) {
      await this.peek(1)
      const piece = this.rest.subarray(0, left)
      this.rest = this.rest.subarray(piece.length)
      left -= piece.length
      yield piece
    }
  }

  async close(): Promise<void> {
    await this.pieces.return?.()
  }
}
