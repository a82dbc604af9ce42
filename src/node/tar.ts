const BLOCK_BYTES = 512
const NAME_MAX_BYTES = 100
const PREFIX_FIELD = { offset: 345, length: 155 }
const SIZE_FIELD = { offset: 124, length: 12 }
/** Sizes from here on do not fit into the field as octal digits. */
const OCTAL_MAX = 8 ** 11

/** Entry of a tar archive: the facts in its header, except the size. */
export interface TarFile {
  name: string
  /** Permission bits. */
  mode: number
  /** Owner and group; absent: root. */
  uid?: number
  gid?: number
  /** Time of the last change; absent: 1970. */
  modifiedMs?: number
}

/** Returns the ustar header of a file of this size. Throws when its name is too long for one. */
export function tarHeader({ name, mode, uid = 0, gid = 0, modifiedMs = 0 }: TarFile, bytes: number): Buffer {
  const header = Buffer.alloc(BLOCK_BYTES)
  const [prefix, rest] = splitName(name)
  header.write(rest, 0)
  header.write(`${octal(mode, 7)}\0`, 100)
  header.write(`${octal(uid, 7)}\0`, 108)
  header.write(`${octal(gid, 7)}\0`, 116)
  writeSize(header, bytes)
  header.write(`${octal(Math.floor(modifiedMs / 1_000), 11)}\0`, 136)
  header.write(' '.repeat(8), 148)
  header.write('0', 156)
  header.write('ustar\x0000', 257)
  header.write(prefix, PREFIX_FIELD.offset)
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(`${octal(sum, 6)}\0 `, 148)
  return header
}

/** Returns the zeros after the contents of a file of this size. */
export function tarPadding(bytes: number): Buffer {
  return Buffer.alloc((BLOCK_BYTES - (bytes % BLOCK_BYTES)) % BLOCK_BYTES)
}

/** Returns the end of an archive: two blocks of zeros. */
export function tarEnd(): Buffer {
  return Buffer.alloc(2 * BLOCK_BYTES)
}

/** Splits a long name at a slash into the two fields of a ustar header. Throws for one that fits neither way. */
function splitName(name: string): [string, string] {
  if (Buffer.byteLength(name) <= NAME_MAX_BYTES) return ['', name]
  const at = name.indexOf('/', name.length - NAME_MAX_BYTES - 1)
  if (at === -1 || at > PREFIX_FIELD.length) throw new Error(`'${name}' is too long a path for an archive`)
  return [name.slice(0, at), name.slice(at + 1)]
}

function octal(value: number, digits: number): string {
  return value.toString(8).padStart(digits, '0')
}

function writeSize(header: Buffer, bytes: number): void {
  const { offset, length } = SIZE_FIELD
  if (bytes < OCTAL_MAX) return void header.write(`${octal(bytes, length - 1)}\0`, offset)
  // The base-256 form for larger sizes: the first bit is set, then the number in binary.
  header.writeUInt8(0x80, offset)
  header.writeBigUInt64BE(BigInt(bytes), offset + length - 8)
}
