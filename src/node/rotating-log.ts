import { closeSync, fstatSync, openSync, readSync, renameSync, rmSync, statSync, writeSync } from 'node:fs'
import { errorText, hasCode } from './fail.ts'

const MAX_BYTES = 10 * 2 ** 20
const KEEP = 3
/** Lines kept in memory, to be shown when a process ends unexpectedly. */
const TAIL_LINES = 20
/** Conditions of a disk that pass; anything else at the start is a mistake of the operator. */
const DISK_TROUBLE = ['ENOSPC', 'EDQUOT', 'EIO', 'EROFS']

export interface RotatingLogOptions {
  /** Size at which a new file is begun, bytes. */
  maxBytes?: number
  /** How many older files stay, as `<path>.1` (the newest) to `<path>.<keep>`. */
  keep?: number
  /** The line that stands for those that were dropped. */
  noteDropped?: (lines: number, reason: string) => string
}

export interface RotatingLog {
  readonly path: string
  /** Appends a line, which has no line break of its own. Never throws: what the disk refuses is dropped and counted. */
  write(line: string): void
  /** How many lines the disk has refused since this log was opened. */
  dropped(): number
  /** The last 20 lines, the dropped ones included. */
  tail(): readonly string[]
  close(): Promise<void>
}

/**
 * Opens a log that is appended to and that rotates by size while it is written (HOST-170). A disk that is full or fails does not stop its
 * process: lines are dropped, and one line says how many once writing works again. Throws when the path cannot be used at all.
 */
export function openRotatingLog(path: string, options: RotatingLogOptions = {}): RotatingLog {
  const { noteDropped = (lines, reason) => `${lines} log lines were dropped: ${reason}` } = options
  const recent: string[] = []
  const file = new RotatingFile(path, options.maxBytes ?? MAX_BYTES, options.keep ?? KEEP)
  let dropped = 0
  let untold = 0
  let reason = ''

  const tryAppend = (text: string): boolean => {
    try {
      file.append(text)
      untold = 0
      return true
    } catch (error) {
      reason = errorText(error)
      return false
    }
  }
  const note = () => (untold === 0 ? '' : `${noteDropped(untold, reason)}\n`)

  try {
    file.open()
  } catch (error) {
    if (!DISK_TROUBLE.some((code) => hasCode(error, code))) throw error
  }
  return {
    path,
    write(line) {
      recent.push(line)
      if (recent.length > TAIL_LINES) recent.shift()
      if (tryAppend(`${note()}${line}\n`)) return
      dropped += 1
      untold += 1
    },
    dropped: () => dropped,
    tail: () => recent,
    async close() {
      if (untold > 0) tryAppend(note())
      file.close()
    },
  }
}

/** The files of one log. Writing is synchronous, so that a line is there although its process is killed right after it. */
class RotatingFile {
  private readonly path: string
  private readonly maxBytes: number
  private readonly keep: number
  private fd: number | undefined
  private size = 0
  /** The file ends in the beginning of a line, which the disk or a crash has cut off. */
  private isTorn = false

  constructor(path: string, maxBytes: number, keep: number) {
    this.path = path
    this.maxBytes = maxBytes
    this.keep = keep
  }

  open(): number {
    if (this.fd !== undefined) return this.fd
    const fd = openSync(this.path, 'a+', 0o600)
    this.fd = fd
    this.size = fstatSync(fd).size
    this.isTorn = this.size > 0 && lastByteOf(fd, this.size) !== '\n'
    return fd
  }

  /** Throws when not all of the text was written. */
  append(text: string): void {
    try {
      this.open()
      const bytes = Buffer.byteLength(text)
      if (this.size > 0 && this.size + bytes > this.maxBytes) this.rotate()
      const data = Buffer.from(this.isTorn ? `\n${text}` : text)
      const written = writeSync(this.open(), data)
      this.size += written
      if (written < data.length) throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' })
      this.isTorn = false
    } catch (error) {
      // A file that failed may never work again, as after its file system was mounted anew.
      this.close()
      throw error
    }
  }

  close(): void {
    const fd = this.fd
    this.fd = undefined
    try {
      if (fd !== undefined) closeSync(fd)
    } catch {
      // Network file systems say only now that a write has failed; the process has to go on all the same.
    }
  }

  private rotate(): void {
    this.close()
    const names = [this.path, ...Array.from({ length: this.keep }, (_, index) => `${this.path}.${index + 1}`)]
    const last = names.at(-1) ?? this.path
    rmSync(last, { force: true })
    for (let index = names.length - 2; index >= 0; index -= 1) {
      const [from, to] = [names[index] ?? '', names[index + 1] ?? '']
      if (statSync(from, { throwIfNoEntry: false }) !== undefined) renameSync(from, to)
    }
    this.open()
  }
}

function lastByteOf(fd: number, size: number): string {
  const byte = Buffer.alloc(1)
  readSync(fd, byte, 0, 1, size - 1)
  return byte.toString('latin1')
}
