import { appendFileSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { LOG_BATCH_LINES, LogAccess, type LogLine, LogSource } from '../../host-protocol/logs.ts'
import { parseJson, readJsonFile, writeLosableJsonFile } from '../../node/json-file.ts'

/** A line that has no number yet. */
export type NewLine = Pick<LogLine, 'at' | 'source' | 'line'>

/**
 * The contents of one write: lines, and the position of the source after them. A chunk is one line of the file, so a crash retains both or
 * neither.
 */
const Chunk = z.object({
  first: z.number().int(),
  lines: z.array(z.tuple([z.number(), LogSource, z.string()])),
  position: z.unknown().optional(),
  /** Nothing follows: the workload has ended. */
  end: z.boolean().optional(),
})
type Chunk = z.infer<typeof Chunk>

const State = z.object({
  access: LogAccess,
  /** The plane has everything up to this number. */
  ackedSeq: z.number().int(),
  /** Lines up to this number were dropped or acknowledged. */
  droppedSeq: z.number().int(),
  /** The workload has ended; stored here when no chunk that says so is left. */
  ended: z.boolean().optional(),
})
type State = z.infer<typeof State>

interface Segment {
  path: string
  firstSeq: number
  lastSeq: number
  bytes: number
}

/** Size of a segment. A full spool drops its oldest lines in whole segments. */
export const SEGMENT_BYTES = 256 * 1024
const SEGMENT_NAME = /^\d{12}\.jsonl$/

/**
 * Lines of one workload that the plane may not have yet, on disk: numbered without gaps, the oldest dropped first, with the position of the
 * source. The contents survive the agent.
 */
export class LogSpool {
  readonly id: string
  private readonly dir: string
  private state: State
  private segments: Segment[] = []
  private lastSeq = 0
  private sourcePosition: unknown
  private ended = false
  /** The last segment may end in an incomplete chunk, after a crash or on a full disk: the next chunk begins a new segment. */
  private sealed = true
  private head: { path: string; bytes: number; lines: LogLine[] } | undefined

  private constructor(dir: string, id: string, state: State) {
    this.dir = dir
    this.id = id
    this.state = state
    this.lastSeq = Math.max(state.ackedSeq, state.droppedSeq)
    this.ended = state.ended === true
  }

  /** Creates the spool of a workload that is about to start. */
  static create(root: string, id: string, access: LogAccess): LogSpool {
    const spool = new LogSpool(join(root, id), id, { access, ackedSeq: 0, droppedSeq: 0 })
    mkdirSync(spool.dir, { recursive: true, mode: 0o700 })
    spool.saveState()
    return spool
  }

  /** The spool that a previous agent process left; undefined when its state cannot be parsed. */
  static load(root: string, id: string): LogSpool | undefined {
    const dir = join(root, id)
    const state = State.safeParse(readJsonFile(join(dir, 'state.json'))).data
    if (state === undefined) return undefined
    const spool = new LogSpool(dir, id, state)
    for (const name of readdirSync(dir).toSorted()) if (SEGMENT_NAME.test(name)) spool.loadSegment(join(dir, name))
    return spool
  }

  private loadSegment(path: string): void {
    const text = readFileSync(path, 'utf8')
    const chunks = parseChunks(text)
    const [first, last] = [chunks[0], chunks.at(-1)]
    if (first === undefined || last === undefined) {
      rmSync(path)
      return
    }
    this.sourcePosition = last.position
    this.ended = last.end === true
    this.lastSeq = Math.max(this.lastSeq, last.first + last.lines.length - 1)
    this.segments.push({ path, firstSeq: first.first, lastSeq: last.first + last.lines.length - 1, bytes: Buffer.byteLength(text) })
  }

  get access(): LogAccess {
    return this.state.access
  }
  /** Position up to which the source has been read, in the source's own format. */
  get position(): unknown {
    return this.sourcePosition
  }
  get isEnded(): boolean {
    return this.ended
  }
  get bytes(): number {
    return this.segments.reduce((sum, segment) => sum + segment.bytes, 0)
  }
  /** Number of lines that the plane does not have; all dropped lines count as the one line that reports them. */
  get pendingLines(): number {
    return this.lastSeq - Math.max(this.state.ackedSeq, this.state.droppedSeq) + (this.hasDropped() ? 1 : 0)
  }

  /** Writes lines together with the position after them. Throws when the write fails; then none of the lines count. */
  append(lines: readonly NewLine[], position: unknown = this.sourcePosition, end = false): void {
    const chunk: Chunk = {
      first: this.lastSeq + 1,
      lines: lines.map(({ at, source, line }) => [at, source, line]),
      position,
      ...(end ? { end } : {}),
    }
    const text = `${JSON.stringify(chunk)}\n`
    const segment = this.segmentFor(chunk.first)
    try {
      appendFileSync(segment.path, text, { mode: 0o600 })
    } catch (error) {
      this.sealed = true
      throw error
    }
    this.lastSeq += lines.length
    segment.lastSeq = this.lastSeq
    segment.bytes += Buffer.byteLength(text)
    this.sourcePosition = position
    this.ended ||= end
  }

  private segmentFor(firstSeq: number): Segment {
    const newest = this.segments.at(-1)
    if (newest !== undefined && !this.sealed && newest.bytes < SEGMENT_BYTES) return newest
    const path = join(this.dir, `${String(firstSeq).padStart(12, '0')}.jsonl`)
    // A failed write may have left the beginning of a chunk in a file of this name, and a segment for it.
    rmSync(path, { force: true })
    this.segments = this.segments.filter((unwritten) => unwritten.path !== path)
    const segment = { path, firstSeq, lastSeq: firstSeq - 1, bytes: 0 }
    this.segments.push(segment)
    this.sealed = false
    return segment
  }

  /** The oldest lines that the plane does not have, preceded by a line that reports dropped lines (HOST-13). */
  peek(nowMs: number): LogLine[] {
    const lines = this.oldestKept()
    const { ackedSeq, droppedSeq } = this.state
    if (!this.hasDropped()) return lines
    const text = `${droppedSeq - ackedSeq} lines dropped: the workload wrote more than this host could buffer for the plane`
    return [{ seq: droppedSeq, at: lines[0]?.at ?? nowMs, source: 'system' as const, line: text }, ...lines].slice(0, LOG_BATCH_LINES)
  }

  private oldestKept(): LogLine[] {
    const after = Math.max(this.state.ackedSeq, this.state.droppedSeq)
    const segment = this.segments.find(({ lastSeq }) => lastSeq > after)
    if (segment === undefined) return []
    const kept = this.readSegment(segment).filter(({ seq }) => seq > after)
    // A damaged file: its lines count as dropped, because otherwise the log would never advance.
    if (kept.length === 0) this.state = { ...this.state, droppedSeq: segment.lastSeq }
    return kept.slice(0, LOG_BATCH_LINES)
  }

  private hasDropped(): boolean {
    return this.state.droppedSeq > this.state.ackedSeq
  }

  private readSegment({ path, bytes }: Segment): LogLine[] {
    if (this.head?.path === path && this.head.bytes === bytes) return this.head.lines
    const lines = parseChunks(readFileSync(path, 'utf8')).flatMap(linesOf)
    this.head = { path, bytes, lines }
    return lines
  }

  /** Notes that the plane has every line up to `seq`, and removes segments that are not needed. */
  ack(seq: number): void {
    if (seq <= this.state.ackedSeq) return
    this.state = { ...this.state, ackedSeq: seq }
    // A plane that is ahead knows numbers that this disk has lost; they must not be used again.
    this.lastSeq = Math.max(this.lastSeq, seq)
    this.saveState()
    this.removeSegmentsUpTo(seq)
  }

  /** Drops the oldest segment. False when only the segment with the position of the source is left. */
  dropOldest(): boolean {
    const [oldest] = this.segments
    if (oldest === undefined || oldest === this.newestWritten()) return false
    this.state = { ...this.state, droppedSeq: Math.max(this.state.droppedSeq, oldest.lastSeq) }
    // The state first: after a crash in between, the removal is repeated.
    this.saveState()
    this.removeSegmentsUpTo(oldest.lastSeq)
    return true
  }

  /** Drops all lines of an ended workload; their number is still reported. */
  dropAll(): void {
    this.state = { ...this.state, droppedSeq: this.lastSeq, ended: this.ended }
    this.saveState()
    for (const { path } of this.segments) rmSync(path, { force: true })
    this.segments = []
  }

  private removeSegmentsUpTo(seq: number): void {
    const newest = this.newestWritten()
    const [gone, kept] = partition(this.segments, (segment) => segment !== newest && segment.lastSeq <= seq)
    for (const { path } of gone) rmSync(path, { force: true })
    this.segments = kept
  }

  /** The segment with the position of the source, which stays. A later segment may exist for which the disk had no room yet. */
  private newestWritten(): Segment | undefined {
    return this.segments.findLast(({ bytes }) => bytes > 0)
  }

  remove(): void {
    rmSync(this.dir, { recursive: true, force: true })
  }

  private saveState(): void {
    writeLosableJsonFile(join(this.dir, 'state.json'), this.state)
  }
}

function parseChunks(text: string): Chunk[] {
  // A line that is incomplete after a crash of the machine or the process is left out: its lines are read from the source again.
  return text.split('\n').flatMap((line) => Chunk.safeParse(parseJson(line)).data ?? [])
}

function linesOf({ first, lines }: Chunk): LogLine[] {
  return lines.map(([at, source, line], index) => ({ seq: first + index, at, source, line }))
}

function partition<T>(all: readonly T[], test: (value: T) => boolean): [T[], T[]] {
  return [all.filter(test), all.filter((value) => !test(value))]
}
