import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import type { LayerFile } from '../../engine/engine.ts'
import { unpacked } from './unpack.ts'

const BLOCK_BYTES = 512
const READ_BYTES = 2 ** 18
const NAME_MAX_BYTES = 100
const PREFIX_FIELD = { offset: 345, length: 155 }
const SIZE_FIELD = { offset: 124, length: 12 }
/** Sizes from here on do not fit into the field as octal digits. */
const OCTAL_MAX = 8 ** 11

/** An entry of an archive: bytes or a layer. */
export interface Entry {
  name: string
  content: Buffer | LayerFile
  /** Whether it is executable. */
  isProgram?: boolean
  /** Permission bits, uid and gid; absent: readable by all and owned by root. */
  mode?: number
  uid?: number
  gid?: number
}

/**
 * Returns the entries of an image in the format of `docker save`, which every engine loads. Layers that the engine has already may be left
 * out.
 */
export function imageEntries(image: { config: Buffer; layers: readonly (Entry['content'] | undefined)[]; tag: string }): Entry[] {
  const names = image.layers.map((_, index) => `layer-${index}.tar`)
  const manifest = [{ Config: 'config.json', RepoTags: [image.tag], Layers: names }]
  return [
    { name: 'config.json', content: image.config },
    ...image.layers.flatMap((content, index) => (content === undefined ? [] : [{ name: names[index] ?? '', content }])),
    { name: 'manifest.json', content: Buffer.from(JSON.stringify(manifest)) },
  ]
}

/** Yields a tar archive of the entries in chunks. */
export async function* tarOf(entries: readonly Entry[]): AsyncGenerator<Buffer> {
  for (const entry of entries) {
    const { content } = entry
    const bytes = Buffer.isBuffer(content) ? content.length : content.tarBytes
    yield headerOf(entry, bytes)
    if (Buffer.isBuffer(content)) yield content
    else yield* unpackedLayer(content)
    yield Buffer.alloc((BLOCK_BYTES - (bytes % BLOCK_BYTES)) % BLOCK_BYTES)
  }
  yield Buffer.alloc(2 * BLOCK_BYTES)
}

/**
 * Yields exactly the bytes that were measured (HOST-100), so that the engine unpacks nothing unmeasured. If the bytes differ, throws before
 * the archive ends, and the engine discards all of it.
 */
async function* unpackedLayer({ path, tarBytes, diffId }: LayerFile): AsyncGenerator<Buffer> {
  const hash = createHash('sha256')
  let left = tarBytes
  for await (const piece of unpacked(createReadStream(path, { highWaterMark: READ_BYTES }) as AsyncIterable<Buffer>)) {
    left -= piece.length
    if (left < 0) break
    hash.update(piece)
    yield piece
  }
  if (left !== 0 || `sha256:${hash.digest('hex')}` !== diffId) throw new Error(`a layer is not what was measured: ${diffId}`)
}

function headerOf({ name, isProgram = false, mode = isProgram ? 0o755 : 0o644, uid = 0, gid = 0 }: Entry, bytes: number): Buffer {
  const header = Buffer.alloc(BLOCK_BYTES)
  const [prefix, rest] = splitName(name)
  header.write(rest, 0)
  header.write(`${octal(mode)}\0`, 100)
  header.write(`${octal(uid)}\0`, 108)
  header.write(`${octal(gid)}\0`, 116)
  writeSize(header, bytes)
  header.write('00000000000\0', 136)
  header.write(' '.repeat(8), 148)
  header.write('0', 156)
  header.write('ustar\x0000', 257)
  header.write(prefix, PREFIX_FIELD.offset)
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return header
}

/** Splits a long name at a slash into the two fields of a ustar header. Throws for one that fits neither way. */
function splitName(name: string): [string, string] {
  if (Buffer.byteLength(name) <= NAME_MAX_BYTES) return ['', name]
  const at = name.indexOf('/', name.length - NAME_MAX_BYTES - 1)
  if (at === -1 || at > PREFIX_FIELD.length) throw new Error(`'${name}' is too long a path for an archive`)
  return [name.slice(0, at), name.slice(at + 1)]
}

function octal(value: number): string {
  return value.toString(8).padStart(7, '0')
}

function writeSize(header: Buffer, bytes: number): void {
  const { offset, length } = SIZE_FIELD
  if (bytes < OCTAL_MAX) return void header.write(`${bytes.toString(8).padStart(length - 1, '0')}\0`, offset)
  // The base-256 form for larger sizes: the first bit is set, then the number in binary.
  header.writeUInt8(0x80, offset)
  header.writeBigUInt64BE(BigInt(bytes), offset + length - 8)
}
