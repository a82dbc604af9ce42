import { closeSync, fstatSync, openSync, readdirSync, readSync, rmSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { makeDirDurably, writeDurably } from '../../node/durable-file.ts'
import { errorText } from '../../node/fail.ts'
import type { Log } from '../log.ts'
import { RelayRoom } from './room.ts'
import { parseRelayRoute } from './routes.ts'

const Head = z.object({
  method: z.enum(['GET', 'POST']).default('POST'),
  target: z.string(),
  headers: z.record(z.string(), z.string()),
  /** Length of the body. Like the next field it is absent in files of agents that stored results only. */
  bytes: z.number().int().optional(),
  keptAtMs: z.number().default(() => Date.now()),
})

/** A post as it is sent to the plane: the fence is in the target, the worker's key and the delivery's number in the headers. */
export interface Post {
  method: 'GET' | 'POST'
  target: string
  headers: Record<string, string>
  body: Buffer
}

/** A post on disk without its body. */
export interface StoredPost extends Omit<Post, 'body'> {
  number: number
  keptAtMs: number
}

/** Limits of the results on disk. */
export interface SpoolBounds {
  spoolMaxEntries: number
  spoolMaxBytes: number
}

const NAME = /^(\d{1,15})\.(?:post|result)$/
const NAME_DIGITS = 15
const NEWLINE = 0x0a
/** More than the header limit of a server, so that the line in front of a body ends within it. */
const HEAD_MAX_BYTES = 64 * 1024

/** Posts on disk: a line of JSON, then the unchanged body. They survive the end of the agent and of the machine. */
export class PostSpool {
  private readonly dir: string
  private readonly log: Log
  /** Sender and file size of each post, from the start of its write. */
  private readonly sizes = new Map<number, { caller: string; bytes: number }>()
  private readonly bytes: RelayRoom
  private readonly entries: RelayRoom
  private readonly paths = new Map<number, string>()

  constructor(dir: string, bounds: SpoolBounds, log: Log, countCallers: () => number) {
    this.dir = dir
    this.bytes = new RelayRoom(bounds.spoolMaxBytes, countCallers)
    this.entries = new RelayRoom(bounds.spoolMaxEntries, countCallers)
    this.log = log
    makeDirDurably(dir)
  }

  /**
   * Stores a post. Returns true once it would survive a power failure, false when there is no space or the write fails. The file contains
   * the worker's key, hence its mode.
   */
  async keep(number: number, { body, ...head }: Post, keptAtMs: number, caller: string): Promise<boolean> {
    const content = Buffer.concat([Buffer.from(`${JSON.stringify({ ...head, bytes: body.length, keptAtMs })}\n`), body])
    if (!this.entries.fits(caller, 1) || !this.bytes.fits(caller, content.length)) return false
    this.take(number, content.length, caller)
    const path = join(this.dir, `${String(number).padStart(NAME_DIGITS, '0')}.post`)
    this.paths.set(number, path)
    if (this.sizes.size === 1) this.log.info('the plane does not accept posts of workers; they are stored on disk')
    try {
      await writeDurably(path, content)
      return true
    } catch (error) {
      this.log.warn('a post of a worker cannot be stored on disk', { error: errorText(error) })
      this.remove(number)
      return false
    }
  }

  /** Returns a post with its body; undefined when its file is missing or damaged. */
  async read(number: number): Promise<Post | undefined> {
    try {
      const file = await readFile(this.paths.get(number) ?? '')
      const end = file.indexOf(NEWLINE)
      const { method, target, headers } = Head.parse(JSON.parse(file.toString('utf8', 0, end)))
      return { method, target, headers, body: file.subarray(end + 1) }
    } catch {
      return undefined
    }
  }

  remove(number: number): void {
    const path = this.paths.get(number)
    if (path === undefined) return
    this.paths.delete(number)
    const { caller, bytes } = this.sizes.get(number) ?? { caller: '', bytes: 0 }
    this.bytes.giveBack(caller, bytes)
    this.entries.giveBack(caller, 1)
    this.sizes.delete(number)
    this.removeFile(path)
    if (this.sizes.size === 0) this.log.info('all stored posts of workers are delivered')
  }

  /**
   * Returns the posts of a previous agent process in the order of their numbers. Removes damaged files, and drafts: their workers never got
   * an answer that the posts are stored.
   */
  takeOver(): StoredPost[] {
    const kept: StoredPost[] = []
    for (const name of readdirSync(this.dir)) {
      const path = join(this.dir, name)
      const number = Number(NAME.exec(name)?.[1] ?? Number.NaN)
      const found = Number.isNaN(number) ? undefined : readHead(path)
      if (found === undefined) {
        this.noteRemoved(name)
        this.removeFile(path)
        continue
      }
      this.paths.set(number, path)
      const { method, target, headers, keptAtMs } = found.head
      // Posts are only stored under the name of their sender.
      this.take(number, found.size, parseRelayRoute(method, target)?.worker ?? '')
      kept.push({ number, method, target, headers, keptAtMs })
    }
    return kept.toSorted((a, b) => a.number - b.number)
  }

  private noteRemoved(file: string): void {
    if (!NAME.test(file)) this.log.warn('an incomplete stored post is removed', { file })
    else
      this.log.error('a stored post is damaged and removed; if it was a result, the plane runs the job again when its lease ends', {
        file,
      })
  }

  // A file that cannot be removed is delivered again by the next agent process, and the plane recognizes it as a repetition.
  private removeFile(path: string): void {
    try {
      rmSync(path, { force: true })
    } catch (error) {
      this.log.warn('a delivered post cannot be removed from disk', { error: errorText(error) })
    }
  }

  private take(number: number, bytes: number, caller: string): void {
    this.sizes.set(number, { caller, bytes })
    this.bytes.take(caller, bytes)
    this.entries.take(caller, 1)
  }
}

/** Returns the first line and the size of a file; undefined when it is incomplete. */
function readHead(path: string): { head: z.infer<typeof Head>; size: number } | undefined {
  const file = openSync(path, 'r')
  try {
    const start = Buffer.alloc(HEAD_MAX_BYTES)
    const line = start.subarray(0, readSync(file, start))
    const end = line.indexOf(NEWLINE)
    const head = Head.parse(JSON.parse(line.toString('utf8', 0, end)))
    const { size } = fstatSync(file)
    return head.bytes !== undefined && head.bytes !== size - end - 1 ? undefined : { head, size }
  } catch {
    return undefined
  } finally {
    closeSync(file)
  }
}
