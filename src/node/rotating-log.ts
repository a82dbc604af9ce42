import { closeSync, fstatSync, openSync, readSync, renameSync, rmSync, statSync, writeSync } from 'node:fs'
import { errorText, hasCode } from './fail.ts'

const MAX_BYTES = 10 * 2 ** 20
const KEEP = 3
/** Number of lines in memory, shown when a process ends unexpectedly. */
const TAIL_LINES = 20
/** Errors of a disk that may be temporary; any other error at the start is a mistake of the operator. */
const DISK_TROUBLE = ['ENOSPC', 'EDQUOT', 'EIO', 'EROFS']

export interface RotatingLogOptions {
  /** File size in bytes at which a new file is started. */
  maxBytes?: number
  /** Number of older files, as `<path>.1` (the newest) to `<path>.<keep>`. */
  keep?: number
  /** Returns the line that replaces dropped lines. */
  noteDropped?: (lines: number, reason: string) => string
}

/** A log file that is replaced by a new one when it reaches its size. */
export interface RotatingLog {
  readonly path: string
  /** Appends a line, given without a line break. Never throws: a line that cannot be written is dropped and counted. */
  write(line: string): void
  /** Returns the number of lines dropped since this log was opened. */
  dropped(): number
  /** Returns the last 20 lines, including dropped ones. */
  tail(): readonly string[]
  close(): Promise<void>
}

/**
 * Opens a log for appending that rotates by size (HOST-170). A full or failing disk does not stop the process: lines are dropped, and one
 * line states their number once writing works again. Throws when the path cannot be used at all.
 */
export function openRotatingLog(path: string, options: RotatingLogOptions = {}): RotatingLog {
  const { noteDropped = (lines, reason) => `${lines} log lines were dropped: ${reason}` } = options
  const recent: string[] = []
  const file = new RotatingFile(path, options.maxBytes ?? MAX_BYTES, options.keep ?? KEEP)
  let dropped = 0
  let unreported = 0
  let reason = ''

  const tryAppend = (text: string): boolean => {
    try {
      file.append(text)
      unreported = 0
      return true
    } catch (error) {
      reason = errorText(error)
      return false
    }
  }
  const note = () => (unreported === 0 ? '' : `${noteDropped(unreported, reason)}\n`)

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
      unreported += 1
    },
    dropped: () => dropped,
    tail: () => recent,
    async close() {
      if (unreported > 0) tryAppend(note())
      file.close()
    },
  }
}

/** The files of one log. Writes are synchronous, so that a line is stored even if the process is killed right after it. */
class RotatingFile {
  private readonly path: string
  private readonly maxBytes: number
  private readonly keep: number
  private fd: number | undefined
  private size = 0
  /** Whether the file ends in an incomplete line, after a failed write or a crash. */
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

  /** Throws when the text was not written completely. */
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
      // A file descriptor that failed may never work again, for example after a remount of its file system.
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
      // Network file systems may report a failed write only at close; the process must continue nevertheless.
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
