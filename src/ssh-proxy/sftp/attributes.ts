import type { Attributes, FileEntry } from 'ssh2'

const LINE = /^([0-9a-f]+) (\d+) (\d+) (\d+) (-?\d+) (-?\d+)(?: \.\/([\s\S]*)| (\.))?$/
/** File types by the first hex digit of the mode. */
const TYPES: ReadonlyMap<number, string> = new Map([
  [1, 'p'],
  [2, 'c'],
  [4, 'd'],
  [6, 'b'],
  [8, '-'],
  [10, 'l'],
])
const TYPE_SHIFT = 12
const BITS = 'rwxrwxrwx'

/** Parses a line of `stat`; null for any other. */
export function parseStat(line: string): { attributes: Attributes; name: string | null } | null {
  const [, mode, size, uid, gid, atime, mtime, name, self] = LINE.exec(line) ?? []
  if (mode === undefined) return null
  const attributes = {
    mode: Number.parseInt(mode, 16),
    size: Number(size),
    uid: Number(uid),
    gid: Number(gid),
    atime: Math.max(0, Number(atime)),
    mtime: Math.max(0, Number(mtime)),
  }
  return { attributes, name: name ?? self ?? null }
}

/** Returns the entries of a directory; a name may contain line breaks. */
export function parseList(text: string): FileEntry[] {
  const lines: string[] = []
  for (const line of text.replace(/\n$/, '').split('\n')) {
    const previous = lines.at(-1)
    if (parseStat(line) !== null || previous === undefined) lines.push(line)
    else lines[lines.length - 1] = `${previous}\n${line}`
  }
  return lines.flatMap((line) => {
    const parsed = parseStat(line)
    return parsed?.name == null
      ? []
      : [{ filename: parsed.name, longname: longName(parsed.name, parsed.attributes), attrs: parsed.attributes }]
  })
}

/** Returns an entry in the format of `ls -l`. */
export function longName(name: string, { mode, size, uid, gid, mtime }: Attributes): string {
  const bits = [...BITS].map((bit, index) => ((mode & (1 << (BITS.length - 1 - index))) === 0 ? '-' : bit)).join('')
  const time = new Date(mtime * 1000).toISOString().slice(0, 16).replace('T', ' ')
  return `${TYPES.get(mode >> TYPE_SHIFT) ?? '?'}${bits} 1 ${uid} ${gid} ${size} ${time} ${name}`
}
