import { posix } from 'node:path'
import { BLOCK_BYTES, contentBytes, isExtension, odd, readRecords, readTarHeader, recordedBytes, type TarHeader } from './tar-header.ts'

/**
 * Minimum size counted for an entry. ext4 reserves one inode for this many bytes by default, so a quota full of empty files takes no larger
 * share of a disk's inodes than of its bytes.
 */
export const ENTRY_MIN_BYTES = 16_384
/** Engines decompress a layer a second time if it begins with one of these: bzip2, gzip, xz, zstd, or a skippable zstd frame. */
const PACKED = /^(425a68|1f8b|fd377a585a|28b52ffd|5.2a4d18)/
const ZEROS = Buffer.alloc(BLOCK_BYTES)

/** Extended headers that precede an entry and apply to it. */
interface Extended {
  records: Map<string, string> | undefined
  names: Map<string, string>
}

/**
 * Measures the disk space of an unpacked archive from its bytes as they arrive (HOST-100). Refuses everything that the engine might unpack
 * to more than is measured here: sparse files, and archives that can be read in two ways.
 */
export class TarMeter {
  private head = Buffer.alloc(0)
  /** Remaining bytes of an entry's content, and of the padding of its last block. */
  private skipping = 0
  private padding = 0
  private extension: { header: TarHeader; content: Buffer[]; left: number } | undefined
  private extended: Extended = nothingExtended()
  private parts: readonly string[] = []
  private isFirst = true
  private zeros = 0
  private counted = 0

  /** Reads the next bytes of the archive and returns the disk space to count for them. Throws a `PullError`. */
  take(data: Buffer): number {
    this.counted = data.length
    for (let at = 0; at < data.length && this.zeros < 2; ) at += this.step(data.subarray(at))
    return this.counted
  }

  /** Throws a `PullError` when the archive is incomplete. */
  end(): void {
    if (this.head.length > 0 || this.skipping > 0 || this.extension !== undefined) throw odd('an archive that breaks off')
  }

  /** Processes one element and returns the number of bytes consumed. */
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
    // The engines' library ignores a single block of zeros as an error; two of them end the archive.
    if (this.zeros > 0) throw odd('a block of zeros among its entries')
    const header = readTarHeader(block)
    if (isExtension(header)) this.beginExtension(header)
    else this.readEntry(header)
  }

  private beginExtension(header: TarHeader): void {
    const { records, names } = this.extended
    // A header for all entries must not stand between an entry and its own headers.
    const isMisplaced = header.type === 'g' && (records !== undefined || names.size > 0)
    const isRepeated = header.type === 'x' ? records !== undefined : names.has(header.type)
    if (isMisplaced || isRepeated) throw odd('two headers for one entry')
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
      // Engines ignore headers that apply to all entries.
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

  /** Returns how many names an entry can create: missing parent directories are created too, except those that the entry before it has. */
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
