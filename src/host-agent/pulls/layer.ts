import { createHash } from 'node:crypto'
import { type FileHandle, open } from 'node:fs/promises'
import type { Transform } from 'node:stream'
import { finished } from 'node:stream/promises'
import { createGunzip, createZstdDecompress } from 'node:zlib'
import { backoffMs, sleep } from '../../node/backoff.ts'
import type { Descriptor } from './manifest.ts'
import { PullError } from './pull-error.ts'
import type { RegistryClient } from './registry-client.ts'

const TRIES_MAX = 4
const RETRY_BASE_MS = 250
const RETRY_MAX_MS = 5_000
const GZIP = Buffer.from([0x1f, 0x8b])
const ZSTD = Buffer.from([0x28, 0xb5, 0x2f, 0xfd])
/** Packings that engines undo and this agent does not, so that what comes out would be measured by nobody: bzip2 and xz. */
const UNMEASURED = [Buffer.from('BZh'), Buffer.from([0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00])]
const LONGEST_MAGIC = 6

/** A layer that was fetched and looked through. */
export interface Layer {
  digest: string
  /** The digest of what is inside, by which engines know it. */
  diffId: string
  packedBytes: number
  unpackedBytes: number
}

export interface LayerRequest {
  client: RegistryClient
  descriptor: Descriptor
  path: string
  /** Both are called with what has come, packed and unpacked, since they were called last; they throw when it is too much. */
  onPacked(bytes: number): void
  onUnpacked(bytes: number): void
  signal: AbortSignal
}

/**
 * Fetches a layer into a file. It is as long as its manifest says, it is what its digest says, and what is inside is measured while it comes, so
 * that nothing is unpacked that was not measured before (HOST-99). One that breaks off goes on where it was.
 */
export async function fetchLayer({ client, descriptor, path, onPacked, onUnpacked, signal }: LayerRequest): Promise<Layer> {
  const { digest, size } = descriptor
  const file = await open(path, 'wx', 0o600)
  const packed = createHash('sha256')
  const content = new Content(onUnpacked)
  let offset = 0
  try {
    for (let failures = 0; offset < size; failures += 1) {
      const body = await client.blob(digest, offset)
      try {
        for await (const piece of body as AsyncIterable<Buffer>) {
          offset += piece.length
          if (offset > size) throw new PullError('unusable', `${digest} is longer than its manifest says`)
          onPacked(piece.length)
          packed.update(piece)
          await writeAll(file, piece)
          await content.write(piece)
        }
        if (offset < size) throw new Error('the answer ended early')
      } catch (error) {
        if (signal.aborted || error instanceof PullError || isLocal(error)) throw error
        if (failures + 1 >= TRIES_MAX)
          throw new PullError('unreachable', `${digest} broke off at ${offset} of ${size} bytes: ${String(error)}`)
        await sleep(backoffMs(failures, RETRY_BASE_MS, RETRY_MAX_MS), signal)
      } finally {
        body.destroy()
      }
    }
    if (`sha256:${packed.digest('hex')}` !== digest) throw new PullError('unusable', `what came for ${digest} is something else`)
    return { digest, packedBytes: size, ...(await content.end()) }
  } finally {
    content.close()
    await file.close()
  }
}

async function writeAll(file: FileHandle, piece: Buffer): Promise<void> {
  let written = 0
  while (written < piece.length) written += (await file.write(piece, written)).bytesWritten
}

/** Of this machine's disk, which another try does not mend. */
function isLocal(error: unknown): boolean {
  return error instanceof Error && 'code' in error && ['ENOSPC', 'EDQUOT', 'EIO', 'EROFS'].includes(String(error.code))
}

/** Resolves when a stream takes more, or nothing any more. */
function drained(stream: Transform): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      stream.off('drain', done).off('close', done)
      resolve()
    }
    stream.on('drain', done).on('close', done)
    if (stream.destroyed) done()
  })
}

/** What is inside of a layer: counted and hashed, never kept. */
class Content {
  private readonly hash = createHash('sha256')
  private readonly onUnpacked: (bytes: number) => void
  private bytes = 0
  private unpacker: Transform | null | undefined
  private failure: Error | undefined
  private head = Buffer.alloc(0)
  /** The first bytes of what is inside. */
  private inside = Buffer.alloc(0)

  constructor(onUnpacked: (bytes: number) => void) {
    this.onUnpacked = onUnpacked
  }

  async write(piece: Buffer): Promise<void> {
    if (this.unpacker === undefined) {
      this.head = Buffer.concat([this.head, piece])
      if (this.head.length < ZSTD.length) return
      this.begin()
      return await this.pass(this.head)
    }
    await this.pass(piece)
  }

  async end(): Promise<{ diffId: string; unpackedBytes: number }> {
    if (this.unpacker === undefined) {
      this.begin()
      await this.pass(this.head)
    }
    if (this.unpacker) {
      this.unpacker.end()
      await finished(this.unpacker).catch(() => {})
    }
    this.throwFailure()
    return { diffId: `sha256:${this.hash.digest('hex')}`, unpackedBytes: this.bytes }
  }

  close(): void {
    this.unpacker?.destroy()
  }

  private begin(): void {
    const startsWith = (magic: Buffer) => this.head.subarray(0, magic.length).equals(magic)
    this.unpacker = startsWith(GZIP) ? createGunzip() : startsWith(ZSTD) ? createZstdDecompress() : null
    this.unpacker?.on('data', (data: Buffer) => this.take(data))
    this.unpacker?.on('error', (error) => {
      this.failure ??= error
    })
  }

  private async pass(piece: Buffer): Promise<void> {
    if (this.unpacker === null) this.take(piece)
    else if (this.unpacker && this.failure === undefined && !this.unpacker.write(piece)) {
      await drained(this.unpacker)
    }
    this.throwFailure()
  }

  private take(data: Buffer): void {
    this.bytes += data.length
    this.hash.update(data)
    try {
      this.refuseUnmeasured(data)
      this.onUnpacked(data.length)
    } catch (error) {
      this.failure ??= error instanceof Error ? error : new Error(String(error))
      this.unpacker?.destroy()
    }
  }

  // HOST-99: inside of gzip too, because an engine may look once more.
  private refuseUnmeasured(data: Buffer): void {
    if (this.inside.length >= LONGEST_MAGIC) return
    this.inside = Buffer.concat([this.inside, data.subarray(0, LONGEST_MAGIC)]).subarray(0, LONGEST_MAGIC)
    if (!UNMEASURED.some((magic) => this.inside.subarray(0, magic.length).equals(magic))) return
    throw new PullError('unusable', 'a layer is packed with bzip2 or xz, which is not unpacked here')
  }

  private throwFailure(): void {
    if (this.failure === undefined) return
    throw this.failure instanceof PullError
      ? this.failure
      : new PullError('unusable', `a layer cannot be unpacked: ${this.failure.message}`)
  }
}
