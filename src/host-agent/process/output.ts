import { readdirSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { hasCode } from '../../node/fail.ts'
import { rotatedNumber, rotatedPath } from '../builtin/bound-output.ts'
import { splitLines } from '../logs/lines.ts'
import type { OutputChunk } from '../runtime.ts'

/** A position in the output: the number of rotations before the file, and the byte offset in it. */
const Position = z.object({ generation: z.number().int(), offset: z.number().int() })
type Position = z.infer<typeof Position>

/** Bytes of one read; longer than any line. */
const READ_BYTES = 64 * 1024

/** Reads the output files of a built-in program from a position. The program rotates them itself (`bound-output.ts`). */
export class ProcessOutput {
  private readonly dir: string
  private readonly now: () => number
  private position: Position

  constructor(dir: string, position: unknown, now: () => number) {
    this.dir = dir
    this.now = now
    this.position = Position.safeParse(position).data ?? { generation: 0, offset: 0 }
  }

  /**
   * Returns the next whole lines; undefined when there are none yet. With `isOver` the file does not grow, so its last line needs no line
   * end.
   */
  async read(isOver: boolean): Promise<OutputChunk | undefined> {
    for (;;) {
      const current = currentGeneration(this.dir)
      // Only two files exist. A reader that is further behind has lost the lines in between.
      const lost = this.position.generation < current - 1
      if (lost) this.position = { generation: current - 1, offset: 0 }
      const { generation, offset } = this.position
      const isCurrent = generation >= current
      const path = isCurrent ? join(this.dir, 'output.log') : rotatedPath(join(this.dir, 'output.log'), generation)
      const data = await readPart(path, offset, READ_BYTES)
      // The file was rotated during the read: these bytes may belong to either file.
      if (isCurrent && currentGeneration(this.dir) !== current) continue
      const chunk = this.split(data, isOver || !isCurrent, lost)
      const atEnd = data.length < READ_BYTES
      if (!isCurrent && atEnd) this.position = { generation: generation + 1, offset: 0 }
      if (chunk !== undefined) return { ...chunk, position: { ...this.position } }
      if (isCurrent) return undefined
    }
  }

  private split(data: Buffer, isLast: boolean, lost: boolean): Omit<OutputChunk, 'position'> | undefined {
    const { lines, consumed } = splitLines(data)
    const isRest = isLast && data.length < READ_BYTES && consumed < data.length
    const all = isRest ? [...lines, data.toString('utf8', consumed)] : lines
    this.position = { ...this.position, offset: this.position.offset + (isRest ? data.length : consumed) }
    if (all.length === 0 && !lost) return undefined
    const at = this.now()
    return { lines: all.map((line) => ({ at, line })), lost }
  }
}

/** Number of rotations of the output so far. */
function currentGeneration(dir: string): number {
  const rotated = readdirSync(dir).flatMap((name) => rotatedNumber(name) ?? [])
  return Math.max(-1, ...rotated) + 1
}

/** Returns at most `bytes` of a file from `offset` on; nothing of a file that does not exist. */
export async function readPart(path: string, offset: number, bytes: number): Promise<Buffer> {
  try {
    const file = await open(path)
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(bytes), 0, bytes, offset)
      return buffer.subarray(0, bytesRead)
    } finally {
      await file.close()
    }
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return Buffer.alloc(0)
    throw error
  }
}
