import { pipeline } from 'node:stream/promises'
import { createGunzip, createZstdDecompress } from 'node:zlib'
import { isZstd, zstdFrames } from './zstd-frames.ts'

const GZIP = Buffer.from([0x1f, 0x8b])
const LONGEST_MAGIC = 4
/** The engine reads a few large chunks faster than many small ones. */
const PIECES = { chunkSize: 2 ** 18 } as const

/** Yields the decompressed contents of a gzip or zstd layer; a layer that is not compressed is passed through. */
export async function* unpacked(packed: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const pieces = packed[Symbol.asyncIterator]()
  let head: Buffer = Buffer.alloc(0)
  while (head.length < LONGEST_MAGIC) {
    const { done, value } = await pieces.next()
    if (done === true) break
    head = Buffer.concat([head, value])
  }
  const all = withHead(head, pieces)
  const unpacker = isZstd(head)
    ? createZstdDecompress(PIECES)
    : head.subarray(0, GZIP.length).equals(GZIP)
      ? createGunzip(PIECES)
      : undefined
  if (unpacker === undefined) return yield* all
  const feeding = pipeline(isZstd(head) ? zstdFrames(all) : all, unpacker)
  // An error here also ends `unpacker`, where it is thrown.
  feeding.catch(() => {})
  for await (const data of unpacker) yield data as Buffer
  await feeding
}

async function* withHead(head: Buffer, pieces: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  try {
    if (head.length > 0) yield head
    for (let next = await pieces.next(); next.done !== true; next = await pieces.next()) yield next.value
  } finally {
    await pieces.return?.()
  }
}
