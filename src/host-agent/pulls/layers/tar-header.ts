import { PullError } from '../pull-error.ts'

/** Size of a header, and the unit of content, in the tar format. */
export const BLOCK_BYTES = 512
/** Maximum size of one extended header; the engines' library has the same limit. */
const EXTENSION_MAX_BYTES = 2 ** 20
const CHECKSUM = { start: 148, end: 156 }
/** Links, devices, directories and pipes have no content, whatever their size field says. */
const BARE_TYPES = '123456'
/** Types of a regular file: the old form and the present one. */
const FILE_TYPES = ['\0', '0']
/** Types of extended headers: for the next entry (x), for all entries (g), a long name (L), a long link target (K). */
const EXTENSION_TYPES = 'xgLK'

/** A header block of an archive. */
export interface TarHeader {
  type: string
  /** Size of its content according to this block alone. */
  bytes: number
  name: string
}

/**
 * Parses a header exactly as the engines' library does (Go's `archive/tar`), and refuses rare forms that could be read in two ways: the
 * contents measured here must be those unpacked there (HOST-100). Sparse files have a type that is none of these. Throws a `PullError`.
 */
export function readTarHeader(block: Buffer): TarHeader {
  if (readOctal(block, CHECKSUM.start, CHECKSUM.end) !== checksumOf(block)) throw odd('a header with a wrong sum')
  const type = block.toString('latin1', 156, 157)
  if (![...FILE_TYPES, ...BARE_TYPES, ...EXTENSION_TYPES].includes(type)) throw odd(`an entry of the type '${type}'`)
  const bytes = readSize(block)
  if (EXTENSION_TYPES.includes(type) && bytes > EXTENSION_MAX_BYTES) throw odd('a header of more than 1 MiB')
  return { type, bytes, name: readName(block) }
}

/** Whether the entry only describes the next one, with a longer name or other attributes. */
export function isExtension({ type }: TarHeader): boolean {
  return EXTENSION_TYPES.includes(type)
}

/** Returns the size of the content that follows an entry's headers. Throws a `PullError` for a directory with content. */
export function contentBytes({ type, bytes }: TarHeader, extended: { bytes: number | undefined; name: string }): number {
  if (BARE_TYPES.includes(type)) return 0
  const size = extended.bytes ?? bytes
  // An old form of a directory; directories have no content.
  if (type === '\0' && extended.name.endsWith('/') && size > 0) throw odd('a directory with content')
  return size
}

/** Parses the records of an extended header. Throws a `PullError` for a malformed or repeated record and for sparse files. */
export function readRecords(content: Buffer): Map<string, string> {
  const records = new Map<string, string>()
  for (let at = 0; at < content.length; ) {
    const [, length = '', name = ''] = /^(\d{1,7}) ([^=]+)=/.exec(content.toString('latin1', at, at + 512)) ?? []
    const end = at + Number(length)
    const valueAt = at + length.length + name.length + 2
    if (length === '' || end > content.length || valueAt >= end || content[end - 1] !== 0x0a)
      throw odd('an extended header that cannot be read')
    if (name.startsWith('GNU.sparse.')) throw odd('a sparse file')
    if (records.has(name)) throw odd(`two records of '${name.slice(0, 64)}' in one header`)
    records.set(name, content.toString('latin1', valueAt, end - 1))
    at = end
  }
  return records
}

/** Returns the size in a record; undefined: there is none. Throws a `PullError` when it is no number. */
export function recordedBytes(size: string | undefined): number | undefined {
  if (size === undefined || size === '') return undefined
  if (!/^\d{1,15}$/.test(size)) throw odd('a size that cannot be read')
  return Number(size)
}

/** The error for a layer with content that is not accepted. */
export function odd(what: string): PullError {
  return new PullError('unusable', `a layer holds ${what}, which is not taken here`)
}

function readName(block: Buffer): string {
  const name = text(block, 0, 100)
  const magic = block.toString('latin1', 257, 265)
  // GNU's form has times at this offset, and the engines' library sometimes reads them as the name's prefix.
  if (magic === 'ustar  \0' && block[345] !== 0) throw odd('an entry with times in the form of GNU')
  if (!magic.startsWith('ustar\0')) return name
  const prefix = text(block, 345, block.toString('latin1', 508, 512) === 'tar\0' ? 476 : 500)
  return prefix === '' ? name : `${prefix}/${name}`
}

function readSize(block: Buffer): number {
  const [start, end] = [124, 136]
  if (((block[start] ?? 0) & 0x80) === 0) return readOctal(block, start, end)
  const size = block.readBigUInt64BE(end - 8)
  const isSmall = block[start] === 0x80 && block.subarray(start + 1, end - 8).every((byte) => byte === 0)
  if (!isSmall || size > BigInt(Number.MAX_SAFE_INTEGER)) throw odd('a size that cannot be read')
  return Number(size)
}

function readOctal(block: Buffer, start: number, end: number): number {
  const [, digits] = /^[ \0]*([0-7]*)[ \0]*$/.exec(block.toString('latin1', start, end)) ?? []
  if (digits === undefined) throw odd('a number that cannot be read')
  return digits === '' ? 0 : Number.parseInt(digits, 8)
}

/** The checksum field itself counts as spaces. */
function checksumOf(block: Buffer): number {
  let sum = 8 * 0x20
  for (let index = 0; index < BLOCK_BYTES; index += 1) {
    if (index < CHECKSUM.start || index >= CHECKSUM.end) sum += block[index] ?? 0
  }
  return sum
}

/** Returns a field up to its end or its first zero byte. */
function text(block: Buffer, start: number, end: number): string {
  const field = block.toString('latin1', start, end)
  const zero = field.indexOf('\0')
  return zero < 0 ? field : field.slice(0, zero)
}
