import { posix } from 'node:path'
import { BLOCK_BYTES, contentBytes, isExtension, odd, readRecords, readTarHeader, recordedBytes, type TarHeader } from './tar-header.ts'

/**
 * What an entry counts at least: file systems set aside one inode for so many bytes (ext4's default), so that a space full of empty files takes
 * no larger part of a disk's inodes than of its bytes.
 */
export const ENTRY_MIN_BYTES = 16_384
/** Engines look into a layer once more and unpack what begins so: bzip2, gzip, xz, zstd, and a frame of zstd to be skipped. */
const PACKED = /^(425a68|1f8b|fd377a585a|28b52ffd|5.2a4d18)/
const ZEROS = Buffer.alloc(BLOCK_BYTES)

/** What stood before an entry and is about it. */
interface Extended {
  records: Map<string, string> | undefined
  names: Map<string, string>
}

/**
 * Measures what an archive takes when it is unpacked, from its bytes as they come (HOST-100). Whatever the engine might unpack to more than is
 * seen here is refused: sparse files, and archives that can be read in two ways.
 */
export class TarMeter {
  private head = Buffer.alloc(0)
  /** What is left of the content of an entry, and of what fills its last block. */
  private skipping = 0
  private padding = 0
  private extension: { header: TarHeader; content: Buffer[]; left: number } | undefined
  private extended: Extended = nothingExtended()
  private parts: readonly string[] = []
  private isFirst = true
  private zeros = 0
  private counted = 0

  /** What comes next of the archive; returns what it takes. Throws a `PullError`. */
  take(data: Buffer): number {
    this.counted = data.length
    for (let at = 0; at < data.length && this.zeros < 2; ) at += this.step(data.subarray(at))
    return this.counted
  }

  /** Throws when the archive has ended in the middle. */
  end(): void {
    if (this.head.length > 0 || this.skipping > 0 || this.extension !== undefined) throw odd('an archive that breaks off')
  }

  /** Returns how much it has used. */
  private step(data: Buffer): number {
    if (this.skipping > 0) {
      const bytes = Math.min(this.skipping, data.length)
      this.skipping -= bytes
      return bytes
    }
    if (this.extension !== undefined) return this.readExtension(data, this.extension)
    if (this.padding > 0) {
      const bytes = Math.min(this.padding, data.length)
      this.padding -= bytes
      return bytes
    }
    return this.readHead(data)
  }

  private readHead(data: Buffer): number {
    const bytes = Math.min(BLOCK_BYTES - this.head.length, data.length)
    const block = this.head.length === 0 ? data.subarray(0, bytes) : Buffer.concat([this.head, data.subarray(0, bytes)])
    this.head = block.length < BLOCK_BYTES ? Buffer.from(block) : Buffer.alloc(0)
    if (block.length === BLOCK_BYTES) this.readBlock(block)
    return bytes
  }

  private readBlock(block: Buffer): void {
    if (this.isFirst && PACKED.test(block.toString('hex', 0, 8))) throw odd('something that is packed once more')
    this.isFirst = false
    if (block.equals(ZEROS)) {
      this.zeros += 1
      return
    }
    // The engines' library takes one such block for a mistake, and two for the end of it all.
    if (this.zeros > 0) throw odd('a block of zeros among its entries')
    const header = readTarHeader(block)
    if (isExtension(header)) this.beginExtension(header)
    else this.readEntry(header)
  }

  private beginExtension(header: TarHeader): void {
    const { records, names } = this.extended
    const isRepeated = header.type === 'x' ? records !== undefined : header.type === 'g' ? !isEmpty(this.extended) : names.has(header.type)
    if (isRepeated) throw odd('two headers for one entry')
    this.extension = { header, content: [], left: header.bytes }
    if (header.bytes === 0) this.endExtension(header, Buffer.alloc(0))
  }

  private readExtension(data: Buffer, extension: { header: TarHeader; content: Buffer[]; left: number }): number {
    const piece = data.subarray(0, extension.left)
    extension.content.push(Buffer.from(piece))
    extension.left -= piece.length
    if (extension.left === 0) this.endExtension(extension.header, Buffer.concat(extension.content))
    return piece.length
  }

  private endExtension({ type, bytes }: TarHeader, content: Buffer): void {
    this.extension = undefined
    this.padding = paddingOf(bytes)
    if (type === 'L' || type === 'K') this.extended.names.set(type, content.toString('latin1').split('\0')[0] ?? '')
    else {
      const records = readRecords(content)
      // What is said of all entries is left alone by engines.
      if (type === 'x') this.extended.records = records
    }
  }

  private readEntry(header: TarHeader): void {
    const { records, names } = this.extended
    const name = names.get('L') || records?.get('path') || header.name
    const bytes = contentBytes(header, { bytes: recordedBytes(records?.get('size')), name })
    this.extended = nothingExtended()
    this.skipping = bytes
    this.padding = paddingOf(bytes)
    const least = this.countNames(name) * ENTRY_MIN_BYTES
    this.counted += Math.max(0, least - BLOCK_BYTES - bytes - this.padding)
  }

  /** How many names an entry can make: directories that lead to it are made along, those of the entry before it are there. */
  private countNames(name: string): number {
    const parts = posix
      .normalize(`/${name}`)
      .split('/')
      .filter((part) => part !== '')
    const different = parts.findIndex((part, index) => part !== this.parts[index])
    this.parts = parts
    return different < 0 ? 1 : parts.length - different
  }
}

function paddingOf(bytes: number): number {
  return (BLOCK_BYTES - (bytes % BLOCK_BYTES)) % BLOCK_BYTES
}

function nothingExtended(): Extended {
  return { records: undefined, names: new Map() }
}

function isEmpty({ records, names }: Extended): boolean {
  return records === undefined && names.size === 0
}
