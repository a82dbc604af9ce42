import { posix } from 'node:path'
import type { Attributes, FileEntry, SFTPWrapper } from 'ssh2'
import { utils } from '../ssh2.ts'
import { longName, parseList, parseStat } from './attributes.ts'
import { type OpenFile, openFile } from './files.ts'
import { type OpenConnection, run, SftpError } from './run.ts'

const { OK, EOF, FAILURE, OP_UNSUPPORTED } = utils.sftp.STATUS_CODE
const MAX_HANDLES = 64
const HANDLE_BYTES = 4
const MODE_BITS = 0o7777
/** Maximum number of directory entries in one answer. */
const ENTRIES_AT_ONCE = 64

type Handle = { file: OpenFile; last: Promise<void> } | { entries: FileEntry[] }

/** Serves SFTP by commands in the pod, so that `scp` and `sftp` work with images without an SFTP server (NET-26). */
export function serveSftp(sftp: SFTPWrapper, open: OpenConnection): void {
  new SftpSession(sftp, open).listen()
}

class SftpSession {
  private readonly sftp: SFTPWrapper
  private readonly open: OpenConnection
  private readonly handles = new Map<number, Handle>()
  private next = 0
  private home: Promise<string> | undefined

  constructor(sftp: SFTPWrapper, open: OpenConnection) {
    this.sftp = sftp
    this.open = open
  }

  listen(): void {
    const { sftp } = this
    sftp.on('REALPATH', (id, path) => this.answer(id, async () => sftp.name(id, [nameOnly(await this.at(path))])))
    sftp.on('STAT', (id, path) => this.answer(id, async () => sftp.attrs(id, await this.stat('stat', path))))
    sftp.on('LSTAT', (id, path) => this.answer(id, async () => sftp.attrs(id, await this.stat('lstat', path))))
    sftp.on('FSTAT', (id, handle) => this.inOrder(id, handle, async ({ path }) => sftp.attrs(id, await this.stat('stat', path))))
    sftp.on('SETSTAT', (id, path, attributes) => this.done(id, async () => this.change(await this.at(path), attributes)))
    sftp.on('FSETSTAT', (id, handle, attributes) => this.inOrder(id, handle, async ({ path }) => this.changed(id, path, attributes)))
    sftp.on('OPEN', (id, path, flags) => this.answer(id, async () => this.openFile(id, await this.at(path), flags)))
    sftp.on('READ', (id, handle, offset, length) => this.inOrder(id, handle, (file) => this.read(id, file, offset, length)))
    sftp.on('WRITE', (id, handle, offset, data) => this.inOrder(id, handle, (file) => this.write(id, file, offset, Buffer.from(data))))
    sftp.on('CLOSE', (id, handle) => this.close(id, handle))
    sftp.on('OPENDIR', (id, path) => this.answer(id, async () => this.openDir(id, await this.at(path))))
    sftp.on('READDIR', (id, handle) => this.answer(id, async () => this.readDir(id, handle)))
    sftp.on('MKDIR', (id, path, attributes) => this.done(id, async () => this.makeDir(await this.at(path), attributes)))
    sftp.on('RMDIR', (id, path) => this.done(id, async () => run(this.open, 'rmdir', [await this.at(path)])))
    sftp.on('REMOVE', (id, path) => this.done(id, async () => run(this.open, 'remove', [await this.at(path)])))
    sftp.on('RENAME', (id, from, to) => this.done(id, async () => run(this.open, 'rename', [await this.at(from), await this.at(to)])))
    sftp.on('READLINK', (id, path) => this.answer(id, async () => this.readLink(id, await this.at(path))))
    sftp.on('SYMLINK', (id, target, link) => this.done(id, async () => run(this.open, 'symlink', [target, await this.at(link)])))
    sftp.on('EXTENDED', (id, name) => sftp.status(id, OP_UNSUPPORTED, `${name} is not served`))
    const end = () => {
      for (const handle of this.handles.values()) if ('file' in handle) void handle.file.close().catch(() => undefined)
      this.handles.clear()
    }
    sftp.on('close', end)
    sftp.on('end', () => {
      end()
      leaveWell(sftp)
    })
    sftp.on('error', end)
  }

  /** Returns an absolute path; relative ones start in the working directory of commands. */
  private async at(path: string): Promise<string> {
    this.home ??= run(this.open, 'home').then((text) => text.trim() || '/')
    return posix.resolve(await this.home, path)
  }

  private async stat(how: 'stat' | 'lstat', path: string): Promise<Attributes> {
    const parsed = parseStat((await run(this.open, how, [await this.at(path)])).trim())
    if (parsed === null) throw new SftpError('stat of the image says something else')
    return parsed.attributes
  }

  private async change(path: string, { mode, uid, gid, size, atime, mtime }: Partial<Attributes>): Promise<void> {
    if (size !== undefined) await run(this.open, 'truncate', [path, String(size)])
    if (uid !== undefined && gid !== undefined) await run(this.open, 'chown', [path, `${uid}:${gid}`])
    if (mode !== undefined) await run(this.open, 'chmod', [path, (mode & MODE_BITS).toString(8)])
    if (atime !== undefined && mtime !== undefined) await run(this.open, 'touch', [path, String(atime), String(mtime)])
  }

  private async changed(id: number, path: string, attributes: Partial<Attributes>): Promise<void> {
    await this.change(path, attributes)
    this.sftp.status(id, OK)
  }

  private async makeDir(path: string, { mode }: Partial<Attributes>): Promise<void> {
    await run(this.open, 'mkdir', [path])
    if (mode !== undefined) await this.change(path, { mode })
  }

  private async openFile(id: number, path: string, flags: number): Promise<void> {
    const file = await openFile(this.open, path, flags)
    this.sftp.handle(id, this.keep({ file, last: Promise.resolve() }))
  }

  private async openDir(id: number, path: string): Promise<void> {
    this.sftp.handle(id, this.keep({ entries: parseList(await run(this.open, 'list', [path])) }))
  }

  private readDir(id: number, handle: Buffer): void {
    const found = this.find(handle)
    if (found === undefined || !('entries' in found)) throw new SftpError('no such directory is open')
    const entries = found.entries.splice(0, ENTRIES_AT_ONCE)
    if (entries.length === 0) this.sftp.status(id, EOF)
    else this.sftp.name(id, entries)
  }

  private async readLink(id: number, path: string): Promise<void> {
    this.sftp.name(id, [nameOnly((await run(this.open, 'readlink', [path])).replace(/\n$/, ''))])
  }

  private async read(id: number, file: OpenFile, offset: number, length: number): Promise<void> {
    const bytes = await file.read(offset, length)
    if (bytes === null) this.sftp.status(id, EOF)
    else this.sftp.data(id, bytes)
  }

  private async write(id: number, file: OpenFile, offset: number, bytes: Buffer): Promise<void> {
    await file.write(offset, bytes)
    this.sftp.status(id, OK)
  }

  private close(id: number, handle: Buffer): void {
    const found = this.find(handle)
    if (found === undefined) return void this.sftp.status(id, FAILURE, 'no such handle')
    if ('entries' in found) {
      this.handles.delete(handle.readUInt32BE(0))
      return void this.sftp.status(id, OK)
    }
    this.inOrder(id, handle, async (file) => {
      this.handles.delete(handle.readUInt32BE(0))
      await file.close()
      this.sftp.status(id, OK)
    })
  }

  private keep(handle: Handle): Buffer {
    if (this.handles.size >= MAX_HANDLES) throw new SftpError(`${MAX_HANDLES} files are open, the most at a time`)
    const name = Buffer.alloc(HANDLE_BYTES)
    name.writeUInt32BE(this.next)
    this.handles.set(this.next, handle)
    this.next += 1
    return name
  }

  private find(handle: Buffer): Handle | undefined {
    return handle.length === HANDLE_BYTES ? this.handles.get(handle.readUInt32BE(0)) : undefined
  }

  /** Clients send many requests for a file at once and expect them to be carried out in order. */
  private inOrder(id: number, handle: Buffer, work: (file: OpenFile) => Promise<unknown>): void {
    const found = this.find(handle)
    if (found === undefined || !('file' in found)) return void this.sftp.status(id, FAILURE, 'no such file is open')
    found.last = found.last.then(() => this.answer(id, () => work(found.file)))
  }

  private async done(id: number, work: () => Promise<unknown>): Promise<void> {
    await this.answer(id, async () => {
      await work()
      this.sftp.status(id, OK)
    })
  }

  private async answer(id: number, work: () => unknown): Promise<void> {
    try {
      await work()
    } catch (error) {
      const known = error instanceof SftpError
      this.sftp.status(id, known ? error.code : FAILURE, known ? error.message : 'it could not be done')
    }
  }
}

/** Ends the session with exit code 0: a client considers a session without one failed, and the library has no call for it. */
function leaveWell(sftp: SFTPWrapper): void {
  // The published types lack both members.
  const { _protocol, outgoing } = sftp as unknown as { _protocol: { exitStatus(id: number, code: number): void }; outgoing: { id: number } }
  _protocol.exitStatus(outgoing.id, 0)
  sftp.end()
}

function nameOnly(filename: string): FileEntry {
  const attrs: Attributes = { mode: 0, uid: 0, gid: 0, size: 0, atime: 0, mtime: 0 }
  return { filename, longname: longName(filename, attrs), attrs }
}
