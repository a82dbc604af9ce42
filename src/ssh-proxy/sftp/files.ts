import type { PodConnection } from '../connection.ts'
import { utils } from '../ssh2.ts'
import { errorOf, type OpenConnection, SftpError, start } from './run.ts'

const READY = 'ok\n'
const { OPEN_MODE } = utils.sftp
const { OP_UNSUPPORTED } = utils.sftp.STATUS_CODE

/** An open file. Its operations are called one after the other. */
export interface OpenFile {
  path: string
  /** Returns the bytes from an offset on; null behind the last. */
  read(offset: number, length: number): Promise<Buffer | null>
  write(offset: number, bytes: Buffer): Promise<void>
  close(): Promise<void>
}

/** Opens a file of a pod to read or to write, by the flags of SFTP. */
export async function openFile(open: OpenConnection, path: string, flags: number): Promise<OpenFile> {
  if ((flags & OPEN_MODE.WRITE) === 0) return await FileReader.open(open, path)
  return await FileWriter.open(open, path, flags)
}

/** The output of a command that reads or writes a file. */
class Pieces {
  private readonly connection: PodConnection
  private held = Buffer.alloc(0)
  errors = ''

  constructor(connection: PodConnection) {
    this.connection = connection
  }

  /** Waits for the `ok` that the file is open; throws the command's error otherwise. */
  async ready(): Promise<void> {
    const word = await this.take(READY.length)
    if (word?.toString() === READY) return
    while ((await this.connection.read()) !== null);
    throw errorOf(this.errors || (this.connection.status.message ?? ''))
  }

  /** Returns `wanted` bytes; fewer at the end, and null when there are none left. */
  async take(wanted: number): Promise<Buffer | null> {
    const parts = [this.held]
    let length = this.held.length
    while (length < wanted) {
      const next = await this.connection.read()
      if (next === null) break
      if (next.channel === 'stderr') {
        this.errors += Buffer.from(next.bytes).toString('utf8')
        continue
      }
      parts.push(Buffer.from(next.bytes))
      length += next.bytes.length
    }
    const all = Buffer.concat(parts)
    this.held = all.subarray(wanted)
    return all.length === 0 ? null : all.subarray(0, wanted)
  }
}

/** Reads sequentially with one command; a read at another offset starts a new one. */
class FileReader implements OpenFile {
  readonly path: string
  private readonly open: OpenConnection
  private connection: PodConnection
  private pieces: Pieces
  private at: number

  private constructor(open: OpenConnection, path: string, at: number, connection: PodConnection, pieces: Pieces) {
    this.open = open
    this.path = path
    this.at = at
    this.connection = connection
    this.pieces = pieces
  }

  static async open(open: OpenConnection, path: string): Promise<FileReader> {
    return new FileReader(open, path, 0, ...(await FileReader.from(open, path, 0)))
  }

  private static async from(open: OpenConnection, path: string, offset: number): Promise<[PodConnection, Pieces]> {
    const connection = await start(open, 'read', [path, String(offset)])
    const pieces = new Pieces(connection)
    await pieces.ready()
    return [connection, pieces]
  }

  async read(offset: number, length: number): Promise<Buffer | null> {
    if (offset !== this.at) {
      this.connection.close()
      ;[this.connection, this.pieces] = await FileReader.from(this.open, this.path, offset)
      this.at = offset
    }
    const bytes = await this.pieces.take(length)
    this.at += bytes?.length ?? 0
    if (bytes === null && this.connection.status.exitCode !== 0) throw errorOf(this.pieces.errors || (this.connection.status.message ?? ''))
    return bytes
  }

  async write(): Promise<void> {
    throw new SftpError('the file was opened for reading', OP_UNSUPPORTED)
  }

  async close(): Promise<void> {
    this.connection.close()
  }
}

/** Writes sequentially, from the start or from where an earlier upload was interrupted. */
class FileWriter implements OpenFile {
  readonly path: string
  private readonly open: OpenConnection
  private readonly isAppended: boolean
  private connection: PodConnection | null
  private pieces: Pieces | null
  private at = 0

  private constructor(open: OpenConnection, path: string, isAppended: boolean, connection: PodConnection | null, pieces: Pieces | null) {
    this.open = open
    this.path = path
    this.isAppended = isAppended
    this.connection = connection
    this.pieces = pieces
  }

  static async open(open: OpenConnection, path: string, flags: number): Promise<FileWriter> {
    const how = (flags & OPEN_MODE.EXCL) !== 0 ? 'excl' : (flags & OPEN_MODE.APPEND) !== 0 ? 'append' : 'trunc'
    // Without the TRUNC flag, the offset of the first write determines where to continue.
    const isWaiting = how === 'trunc' && (flags & OPEN_MODE.TRUNC) === 0
    const [connection, pieces] = isWaiting ? [null, null] : await FileWriter.from(open, path, how, 0)
    return new FileWriter(open, path, how === 'append', connection, pieces)
  }

  private static async from(open: OpenConnection, path: string, how: string, offset: number): Promise<[PodConnection, Pieces]> {
    const connection = await start(open, 'write', [path, how, String(offset)])
    const pieces = new Pieces(connection)
    await pieces.ready()
    return [connection, pieces]
  }

  async read(): Promise<null> {
    throw new SftpError('the file was opened for writing', OP_UNSUPPORTED)
  }

  async write(offset: number, bytes: Buffer): Promise<void> {
    if (this.connection === null) {
      ;[this.connection, this.pieces] = await FileWriter.from(this.open, this.path, 'at', offset)
      this.at = offset
    }
    if (!this.isAppended && offset !== this.at) throw new SftpError('files are written from front to back only', OP_UNSUPPORTED)
    this.at += bytes.length
    await this.connection.write(bytes)
  }

  async close(): Promise<void> {
    const { connection, pieces } = this
    if (connection === null || pieces === null) return
    connection.endInput()
    while ((await pieces.take(1)) !== null);
    const { exitCode, message } = connection.status
    connection.close()
    if (exitCode !== 0) throw errorOf(pieces.errors || (message ?? ''))
  }
}
