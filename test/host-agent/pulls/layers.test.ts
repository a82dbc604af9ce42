import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { tarOf } from '../../../src/host-agent/pulls/layers/archive.ts'
import { ENTRY_MIN_BYTES, TarMeter } from '../../../src/host-agent/pulls/layers/tar-meter.ts'
import { unpacked } from '../../../src/host-agent/pulls/layers/unpack.ts'
import { sha256 } from '../support/fake-registry.ts'
import { archiveOf, entryOf, paxOf } from '../support/tar.ts'
import { tempDir } from '../support/temp-dir.ts'

const END_BYTES = 1024
const KB = 1_000

/** The measured size of an archive that arrives in pieces of so many bytes, or why it is refused. */
function measure(archive: Buffer, pieceBytes = archive.length): number | string {
  const meter = new TarMeter()
  let taken = 0
  try {
    for (let at = 0; at < archive.length; at += pieceBytes) taken += meter.take(archive.subarray(at, at + pieceBytes))
    meter.end()
    return taken
  } catch (error) {
    return error instanceof Error && 'detail' in error ? String(error.detail) : String(error)
  }
}

async function* inPieces(bytes: Buffer, pieceBytes: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes)
}

async function collect(pieces: AsyncIterable<Buffer>): Promise<Buffer> {
  const collected: Buffer[] = []
  for await (const piece of pieces) collected.push(piece)
  return Buffer.concat(collected)
}

describe('the unpacked size of a layer', () => {
  const name = (length: number) => 'n'.repeat(length)
  const sizes: [string, Buffer, number][] = [
    ['a large file counts as long as it is', archiveOf({ content: Buffer.alloc(99 * 512) }), 100 * 512],
    ['an empty one as much as an inode', archiveOf({}), ENTRY_MIN_BYTES],
    ['each of them', archiveOf(...Array.from({ length: 9 }, (_, index) => ({ name: `${index}` }))), 9 * ENTRY_MIN_BYTES],
    ['links and directories too', archiveOf({ name: 'd/', type: '5' }, { name: 'd/l', type: '2' }), 2 * ENTRY_MIN_BYTES],
    ['directories that are made along the way', archiveOf({ name: 'a/b/../b/c/./d' }), 4 * ENTRY_MIN_BYTES],
    ['only once', archiveOf({ name: 'a/b/c/d' }, { name: 'a/b/c/e' }, { name: 'a/b/f' }), 6 * ENTRY_MIN_BYTES],
    ['those of a recorded path', archiveOf(paxOf({ path: 'a/b/c' }), {}), 2 * 512 + 512 + 3 * ENTRY_MIN_BYTES - 512],
    ['those of a long name', archiveOf({ type: 'L', content: `a/b/${name(200)}\0` }, {}), 2 * 512 + 3 * ENTRY_MIN_BYTES],
    ['those of a prefix', archiveOf({ change: (header) => header.write('a/b', 345) }), 3 * ENTRY_MIN_BYTES],
    ['the size that a record says counts', archiveOf(paxOf({ size: '0' }), { size: 512 }), 2 * 512 + ENTRY_MIN_BYTES],
    ['a link has no content, whatever it says', archiveOf({ type: '1', size: 512 }, {}), 2 * ENTRY_MIN_BYTES],
    ['a global header for all entries is ignored', archiveOf(paxOf({ size: '9' }, 'g'), {}), 2 * 512 + ENTRY_MIN_BYTES],
    ['without its end it is whole', entryOf({ content: 'x' }), ENTRY_MIN_BYTES - END_BYTES],
    ['bytes after its end count as bytes', Buffer.concat([archiveOf({}), Buffer.alloc(512, 'x')]), ENTRY_MIN_BYTES + 512],
    ['nothing', Buffer.alloc(0), -END_BYTES],
  ]
  test.each(sizes)('[H8] [HOST-100] %s', (_, archive, bytes) => {
    for (const pieceBytes of [archive.length || 1, 512, 7, 1]) expect(measure(archive, pieceBytes)).toBe(bytes + END_BYTES)
  })

  const sparse = { name: 'sparse', type: 'S', content: 'x' }
  const refusals: [string, Buffer, RegExp][] = [
    ['a sparse file of GNU', archiveOf(sparse), /the type 'S'/],
    ['a sparse file of records', archiveOf(paxOf({ 'GNU.sparse.major': '1', 'GNU.sparse.realsize': '999999999999' }), {}), /sparse/],
    ['one in what is said of all entries', archiveOf(paxOf({ 'GNU.sparse.size': '9' }, 'g'), {}), /sparse/],
    ['one behind a link that says it has content', archiveOf({ type: '2', size: 512 }, sparse), /the type 'S'/],
    ['one behind a file that a record makes shorter', archiveOf(paxOf({ size: '0' }), { size: 512 }, sparse), /the type 'S'/],
    ['one among what seems to be content', archiveOf({ type: '7', content: entryOf(sparse) }), /the type '7'/],
    ['a directory of old with content', archiveOf({ name: 'd/', type: '\0', content: entryOf(sparse) }), /a directory with content/],
    ['two headers for one entry', archiveOf(paxOf({ size: '0' }), paxOf({ a: 'b' }), { size: 512 }, sparse), /two headers/],
    ['two long names', archiveOf({ type: 'L', content: 'a' }, { type: 'L', content: 'b' }, {}), /two headers/],
    ['a header that one for all takes the sense of', archiveOf(paxOf({ size: '0' }), paxOf({ a: 'b' }, 'g'), {}), /two headers/],
    ['two records of one name', archiveOf({ type: 'x', content: '10 size=1\n10 size=2\n' }, {}), /two records/],
    ['a record that cannot be read', archiveOf({ type: 'x', content: '99 size=1\n' }, {}), /cannot be read/],
    ['a record without an end', archiveOf({ type: 'x', content: '9 size=12\n' }, {}), /cannot be read/],
    ['a size that cannot be read', archiveOf(paxOf({ size: '-1' }), {}), /a size/],
    ['a size in letters', archiveOf({ change: (header) => header.write('0000000012z', 124) }), /a number/],
    ['a size that is too large', archiveOf({ change: (header) => header.fill(0xff, 124, 136) }), /a size/],
    ['a wrong sum', archiveOf({}).fill('y', 0, 1), /a wrong sum/],
    ['a header of more than 1 MiB', archiveOf({ type: 'x', content: Buffer.alloc(2 ** 20 + 1) }), /1 MiB/],
    ['a block of zeros among entries', Buffer.concat([entryOf({}), Buffer.alloc(512), entryOf(sparse)]), /zeros/],
    ['an end in the middle of a file', archiveOf({ content: 'x', size: 9999 }).subarray(0, -1024), /breaks off/],
    ['an end in the middle of a header', archiveOf({}).subarray(0, 300), /breaks off/],
    ['times in the form of GNU', archiveOf({ change: (header) => header.write('ustar  \0', 257) && header.write('1', 345) }), /GNU/],
  ]
  test.each(refusals)('[H8] [HOST-100] is unknown, and the layer is refused, for %s', (_, archive, reason) => {
    for (const pieceBytes of [archive.length, 512, 7]) expect(measure(archive, pieceBytes)).toMatch(reason)
  })
})

describe('the content of a layer', () => {
  const parts = [Buffer.alloc(300 * KB, 'one'), Buffer.alloc(200 * KB, sha256('two')), Buffer.from('three')]
  const skipped = Buffer.from([0x5c, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 7, 7, 7])
  const frames = parts.map((part) => zstdCompressSync(part))
  const packings: [string, Buffer][] = [
    ['several members of gzip', Buffer.concat(parts.map((part) => gzipSync(part)))],
    ['several frames of zstd', Buffer.concat(frames)],
    ['frames of zstd to be skipped', Buffer.concat([skipped, ...frames.flatMap((frame) => [frame, skipped])])],
    ['no packing', Buffer.concat(parts)],
  ]
  test.each(packings)('[H8] [HOST-100] is complete in every compression: %s', async (_, packed) => {
    for (const pieceBytes of [packed.length, 65_536, 1_000, 13]) {
      expect((await collect(unpacked(inPieces(packed, pieceBytes)))).equals(Buffer.concat(parts))).toBe(true)
    }
  })

  test('[H8] [HOST-100] is refused where a frame of zstd is truncated or invalid', async () => {
    const [first = Buffer.alloc(0)] = frames
    const bad = [
      first.subarray(0, -1),
      first.subarray(0, 9),
      Buffer.concat([first, Buffer.from('none')]),
      Buffer.concat([first, first.subarray(0, 3)]),
    ]
    for (const packed of bad) await expect(collect(unpacked(inPieces(packed, 100)))).rejects.toThrow()
  })
})

describe('an archive for the engine', () => {
  const fileOf = (content: Buffer) => {
    const path = join(tempDir('archive'), 'layer')
    writeFileSync(path, content)
    return path
  }

  test('[H8] [HOST-100] holds a layer uncompressed as it was measured, so the engine unpacks nothing', async () => {
    const inside = archiveOf({ content: 'x' })
    const layer = { path: fileOf(gzipSync(inside)), tarBytes: inside.length, diffId: sha256(inside) }
    const archive = await collect(tarOf([{ name: 'layer-0.tar', content: layer }]))
    expect(archive.subarray(512, 512 + inside.length).equals(inside)).toBe(true)
    expect(archive.length).toBe(512 + inside.length + 1024)
  })

  test('[H8] [HOST-100] stops when a layer differs from the measured one', async () => {
    const inside = archiveOf({ content: 'x' })
    const others = [archiveOf({ content: 'y' }), Buffer.concat([inside, inside]), inside.subarray(0, -512)]
    for (const other of others) {
      const content = { path: fileOf(gzipSync(other)), tarBytes: inside.length, diffId: sha256(inside) }
      await expect(collect(tarOf([{ name: 'layer-0.tar', content }]))).rejects.toThrow('not what was measured')
    }
  })

  test('[HOST-95] holds files of more than 8 GiB', async () => {
    const sizes = [0o77777777777, 8 * 2 ** 30, 300 * 2 ** 30]
    const fields = await Promise.all(
      sizes.map(async (tarBytes) => {
        const first = await tarOf([{ name: 'layer-0.tar', content: { path: '/nonexistent', tarBytes, diffId: '' } }]).next()
        return (first.value as Buffer).subarray(124, 136)
      }),
    )
    expect(fields[0]?.toString()).toBe('77777777777\0')
    expect(fields.slice(1).map((field) => [field[0], field.readBigUInt64BE(4)])).toEqual(
      sizes.slice(1).map((bytes) => [0x80, BigInt(bytes)]),
    )
  })
})
