import { Readable } from 'node:stream'
import type { DockerEngine } from '../../../src/host-agent/engine/engine.ts'
import { HOST_LABEL } from '../../../src/host-agent/engine/labels.ts'

/** A line of a container as the engine keeps it. */
export interface Written {
  stream: 1 | 2
  /** All digits of the nanoseconds. */
  time: string
  line: string
}

/** How one answer differs from what the files have. */
export interface AnswerFault {
  /** Lines that the container writes before this answer. */
  writes: number
  /** Ends the answer after this share of its lines, if it began before the end of the container. */
  cutAt?: number
  /** Sends the newest file once more at the end, as Docker 20.10 does after a rotation. */
  repeats?: boolean
}

/** An engine with one container, whose output is in two files that are rotated; the container ends once it wrote everything. */
export class RotatingEngine {
  private readonly all: readonly Written[]
  private readonly fileLines: number
  private readonly faults: AnswerFault[]
  private written = 0

  constructor(all: readonly Written[], fileLines: number, faults: readonly AnswerFault[]) {
    this.all = all
    this.fileLines = fileLines
    this.faults = [...faults]
  }

  engine = {
    followLogs: async (_name: string, since: number) => Readable.from(this.answer(since).map(frameOf)),
    inspect: async () => ({ labels: { [HOST_LABEL]: 'h' }, status: this.written < this.all.length ? 'running' : 'exited' }),
  } as unknown as DockerEngine

  private answer(sinceSeconds: number): Written[] {
    const fault = this.faults.shift() ?? { writes: this.all.length }
    const isCut = fault.cutAt !== undefined && this.written < this.all.length
    this.written = Math.min(this.all.length, this.written + fault.writes)
    const newestFile = Math.floor(Math.max(0, this.written - 1) / this.fileLines) * this.fileLines
    const kept = this.all.slice(Math.max(0, newestFile - this.fileLines), this.written)
    const newest = this.all.slice(newestFile, this.written)
    const sent = [...kept, ...(fault.repeats && hasTwoTimes(newest) ? newest : [])]
    const meant = sent.filter(({ time }) => Date.parse(time) >= sinceSeconds * 1000)
    return isCut ? meant.slice(0, Math.floor(meant.length * (fault.cutAt ?? 1))) : meant
  }
}

/** Whether a second copy of the lines shows by their times, in each stream. */
function hasTwoTimes(lines: readonly Written[]): boolean {
  const times = Map.groupBy(lines, ({ stream }) => stream)
  return [...times.values()].every((ofStream) => ofStream[0]?.time !== ofStream.at(-1)?.time)
}

function frameOf({ stream, time, line }: Written): Buffer {
  const payload = Buffer.from(`${time} ${line}\n`)
  const header = Buffer.alloc(8)
  header[0] = stream
  header.writeUInt32BE(payload.length, 4)
  return Buffer.concat([header, payload])
}
