import type { LogSourceParam } from '../../contract/logs/stream.ts'
import type { LogLine } from '../../host-protocol/logs.ts'
import type { LinePosition, StoredLine } from '../text/log-stream.ts'

/** Successive lines of a log that are stored as one row (LOG-36). */
export interface LinePack {
  firstN: number
  lastN: number
  /** The earliest and the latest time of its lines, which need not rise from line to line. */
  earliestAtMs: number
  latestAtMs: number
  /** Bytes of the log up to the last line: see `LinePosition`. */
  endByte: number
  /** Size of `text` in UTF-8. */
  bytes: number
  /** The lines as elements of a JSON array, without its brackets, so that packs are joined with a comma. */
  text: string
}

/** Largest size of a pack, unless a single line is larger. */
export const PACK_BYTES = 64 * 1024
/** Lines of a later batch join the newest pack up to this size: each such batch writes the whole pack anew. */
const JOINED_BYTES = 16 * 1024
const encoder = new TextEncoder()

/** A line in a pack: its time, source, text, and the bytes of the log up to its end. */
type PackedLine = [atMs: number, source: LogSourceParam, line: string, endByte: number]

/** Packs of new lines, which follow the line at `newest`. */
export function packLines(lines: readonly Omit<LogLine, 'seq'>[], newest: LinePosition): LinePack[] {
  const packs: LinePack[] = []
  let { n, endByte } = newest
  for (const { at, source, line } of lines) {
    n += 1
    endByte += encoder.encode(line).byteLength
    // SQLite stores UTF-8, which has no lone surrogates, and JSON would keep them.
    const text = JSON.stringify([at, source, line.toWellFormed(), endByte] satisfies PackedLine)
    const bytes = encoder.encode(text).byteLength
    const one: LinePack = { firstN: n, lastN: n, earliestAtMs: at, latestAtMs: at, endByte, bytes, text }
    const last = packs.at(-1)
    if (last && sizeOfJoined(last, one) <= PACK_BYTES) packs[packs.length - 1] = joined(last, one)
    else packs.push(one)
  }
  return packs
}

/** Whether new lines go into the row of the newest pack. */
export function isJoined(newest: Pick<LinePack, 'bytes'>, added: LinePack): boolean {
  return sizeOfJoined(newest, added) <= JOINED_BYTES
}

const sizeOfJoined = (pack: Pick<LinePack, 'bytes'>, next: LinePack) => pack.bytes + 1 + next.bytes

function joined(pack: LinePack, next: LinePack): LinePack {
  return {
    firstN: pack.firstN,
    lastN: next.lastN,
    earliestAtMs: Math.min(pack.earliestAtMs, next.earliestAtMs),
    latestAtMs: Math.max(pack.latestAtMs, next.latestAtMs),
    endByte: next.endByte,
    bytes: sizeOfJoined(pack, next),
    text: `${pack.text},${next.text}`,
  }
}

type PackText = Pick<LinePack, 'firstN' | 'text'>

/** The lines of a pack. */
export function linesOf(pack: PackText): StoredLine[] {
  return read(pack).map(([atMs, source, line], index) => ({ n: pack.firstN + index, atMs, source, line }))
}

/** The positions of the lines of a pack. */
export function positionsOf(pack: PackText): LinePosition[] {
  return read(pack).map(([, , , endByte], index) => ({ n: pack.firstN + index, endByte }))
}

// Only `packLines` and the migration of the object write these texts.
const read = ({ text }: PackText) => JSON.parse(`[${text}]`) as PackedLine[]
