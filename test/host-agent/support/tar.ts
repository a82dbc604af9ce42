/** The header and content of one archive entry, which may be inconsistent. */
export interface TarEntry {
  name?: string
  type?: string
  content?: Buffer | string
  /** The size in its header. */
  size?: number
  /** Changes its header before the checksum is computed. */
  change?: (header: Buffer) => void
}

/** An archive, with the two blocks of zeros at its end. */
export function archiveOf(...entries: readonly TarEntry[]): Buffer {
  return Buffer.concat([...entries.map(entryOf), Buffer.alloc(1024)])
}

export function entryOf({ name = 'file', type = '0', content = '', size, change = () => {} }: TarEntry): Buffer {
  const bytes = Buffer.from(content)
  const header = Buffer.alloc(512)
  header.write(name, 0, 100, 'latin1')
  header.write('0000644\0'.repeat(3), 100)
  header.write(`${(size ?? bytes.length).toString(8).padStart(11, '0')}\0`, 124)
  header.write('00000000000\0', 136)
  header.write(type, 156, 'latin1')
  header.write('ustar\x0000', 257, 'latin1')
  change(header)
  header.write(' '.repeat(8), 148)
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return Buffer.concat([header, bytes, Buffer.alloc((512 - (bytes.length % 512)) % 512)])
}

/** An extended header for the entry after it. */
export function paxOf(records: Readonly<Record<string, string>>, type = 'x'): TarEntry {
  return {
    name: 'PaxHeaders/file',
    type,
    content: Object.entries(records)
      .map(([name, value]) => recordOf(name, value))
      .join(''),
  }
}

function recordOf(name: string, value: string): string {
  const rest = ` ${name}=${value}\n`
  const guess = rest.length + String(rest.length).length
  return `${rest.length + String(guess).length}${rest}`
}
