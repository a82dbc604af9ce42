import { z } from 'zod'
import { withoutReturn } from '../../logs/lines.ts'
import type { OutputChunk } from '../../runtime.ts'
import { frameReader, type LogFrame } from './logs.ts'

/** The last line that was read from one stream: its time stamp, and the number of lines read with that same stamp. */
const Mark = z.object({ time: z.string(), count: z.number().int() })

/** One mark per stream, because times increase only within a stream: the engine reads stdout and stderr concurrently. */
const Position = z.object({ stdout: Mark.optional(), stderr: Mark.optional() })
type Position = z.infer<typeof Position>
type StreamName = keyof Position

/** Lines of the other stream may be stamped this much earlier than the last one read, seconds. */
const OVERLAP_SECONDS = 10
/** A time stamp of the engine: all digits of the nanoseconds, so that string order is time order. */
const STAMP = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z) /

/** A line that is older than the line before it in its stream. */
export interface Doubt {
  stream: StreamName
  time: string
}

/**
 * Parses one answer of the engine with time stamps and skips lines that were read before `position`.
 *
 * Docker 20.10 sends the file that it writes once more when it rotated files while it was read. So a line that is older than the one before
 * it is in doubt: it was read already, or the machine's clock was set back. Nothing is read from such an answer any more. The next answer
 * begins at the doubt, and shows by the order of the files whether that line is before the last one read, or after it.
 */
export class DockerOutput {
  private readonly resumed: Position
  private readonly position: Position
  private readonly parse = frameReader()
  private readonly seenAgain = { stdout: 0, stderr: 0 }
  private readonly caughtUp = { stdout: false, stderr: false }
  private readonly examined: Doubt | undefined
  private isRepeat = false
  private lost = false
  /** The line that ended the reading of this answer, for the next one. */
  doubt: Doubt | undefined

  constructor(position: unknown, examined?: Doubt) {
    this.resumed = Position.safeParse(position).data ?? {}
    this.position = { ...this.resumed }
    this.examined = examined
  }

  /** Start time for the engine's answer, seconds since the epoch; 0: everything. */
  get sinceSeconds(): number {
    const times = [this.resumed.stdout, this.resumed.stderr].flatMap((mark) => (mark === undefined ? [] : [Date.parse(mark.time)]))
    if (times.length === 0) return 0
    const newest = Math.max(...times)
    const from = this.examined === undefined ? newest : Math.min(newest, Date.parse(this.examined.time))
    return Math.max(0, Math.floor(from / 1000) - OVERLAP_SECONDS)
  }

  /** New lines in a piece of the engine's answer, up to one in doubt; undefined when there are none. */
  read(data: Buffer): OutputChunk | undefined {
    const lines = this.parse(data).flatMap((frame) => (this.doubt === undefined ? this.readFrame(frame) : []))
    if (lines.length === 0) return undefined
    const { lost } = this
    this.lost = false
    return { lines, position: structuredClone(this.position), lost }
  }

  /** Parses a frame: a line, or 16 KiB of a longer line, which the engine cuts itself; all pieces have the time of the first. */
  private readFrame({ stream, payload }: LogFrame): { at: number; line: string }[] {
    const text = payload.toString('utf8')
    const time = STAMP.exec(text)?.[1]
    if (time === undefined) throw new Error('the Docker engine sent a line without its time')
    const name: StreamName = stream === 2 ? 'stderr' : 'stdout'
    if (this.wasRead(name, time)) {
      this.isRepeat ||= this.isExamined(name, time)
      return []
    }
    const mark = this.position[name]
    if (mark !== undefined && time < mark.time && (this.isRepeat || !this.isExamined(name, time))) {
      this.doubt = { stream: name, time }
      return []
    }
    this.position[name] = mark?.time === time ? { time, count: mark.count + 1 } : { time, count: 1 }
    return [{ at: Date.parse(time), line: withoutReturn(text.slice(time.length + 1).replace(/\n$/, '')) }]
  }

  private isExamined(name: StreamName, time: string): boolean {
    return this.examined?.stream === name && this.examined.time === time
  }

  private wasRead(name: StreamName, time: string): boolean {
    const mark = this.resumed[name]
    if (mark === undefined || this.caughtUp[name]) return false
    const isPassed = this.seenAgain[name] >= mark.count
    if (time < mark.time && !isPassed) return true
    if (time === mark.time && !isPassed) {
      this.seenAgain[name] += 1
      return true
    }
    this.caughtUp[name] = true
    // The last line read is gone from the engine's files, so lines after it may be lost too; a line older than the requested start is no
    // evidence.
    if (this.seenAgain[name] === 0 && Date.parse(mark.time) >= this.sinceSeconds * 1000) this.lost = true
    return false
  }
}
