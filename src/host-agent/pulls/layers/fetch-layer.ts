import { createHash } from 'node:crypto'
import { type FileHandle, open } from 'node:fs/promises'
import { backoffMs, sleep } from '../../../node/backoff.ts'
import { errorText } from '../../../node/fail.ts'
import type { Descriptor } from '../manifest.ts'
import { PullError } from '../pull-error.ts'
import type { RegistryClient } from '../registry-client.ts'
import { TarMeter } from './tar-meter.ts'
import { unpacked } from './unpack.ts'

const TRIES_MAX = 4
const RETRY_BASE_MS = 250
const RETRY_MAX_MS = 5_000
/** A layer that was fetched and measured. */
export interface Layer {
  digest: string
  /** The digest of the uncompressed layer, by which engines identify it. */
  diffId: string
  packedBytes: number
  /** Minimum disk space of its contents in bytes (HOST-100). */
  unpackedBytes: number
}

/** A layer to fetch into a file, and the limits while it arrives. */
export interface LayerRequest {
  client: RegistryClient
  descriptor: Descriptor
  path: string
  /** Both are called with the bytes, compressed and unpacked, since their last call; they throw when a limit is exceeded. */
  onPacked(bytes: number): Promise<void>
  onUnpacked(bytes: number): void
  signal: AbortSignal
}

/** A layer stored in a file, and the length of its uncompressed archive. */
export interface FetchedLayer {
  layer: Layer
  tarBytes: number
}

/**
 * Downloads a layer into a file. Verifies the length and digest of its manifest and measures its contents during the download, so that
 * nothing unmeasured is unpacked (HOST-99). A download that breaks off resumes at its offset. Throws a `PullError`.
 */
export async function fetchLayer(request: LayerRequest): Promise<FetchedLayer> {
  const { digest, size } = request.descriptor
  const file = await open(request.path, 'wx', 0o600)
  try {
    const { tarBytes, diffId, unpackedBytes } = await measure(packedPieces(request, file), request.onUnpacked)
    return { layer: { digest, diffId, packedBytes: size, unpackedBytes }, tarBytes }
  } catch (error) {
    if (request.signal.aborted || error instanceof PullError || isLocal(error)) throw error
    throw new PullError('unusable', `a layer cannot be unpacked: ${errorText(error)}`)
  } finally {
    await file.close()
  }
}

async function measure(packed: AsyncIterable<Buffer>, onUnpacked: LayerRequest['onUnpacked']) {
  const hash = createHash('sha256')
  const meter = new TarMeter()
  let [tarBytes, unpackedBytes] = [0, 0]
  for await (const data of unpacked(packed)) {
    hash.update(data)
    tarBytes += data.length
    const bytes = meter.take(data)
    unpackedBytes += bytes
    onUnpacked(bytes)
  }
  meter.end()
  return { tarBytes, unpackedBytes, diffId: `sha256:${hash.digest('hex')}` }
}

/** Yields a compressed layer as it arrives, and writes it to the file. */
async function* packedPieces({ client, descriptor, onPacked, signal }: LayerRequest, file: FileHandle): AsyncGenerator<Buffer> {
  const { digest, size } = descriptor
  const hash = createHash('sha256')
  let offset = 0
  for (let failures = 0; offset < size; failures += 1) {
    const body = await client.blob(digest, offset)
    try {
      for await (const piece of body as AsyncIterable<Buffer>) {
        offset += piece.length
        if (offset > size) throw new PullError('unusable', `${digest} is longer than its manifest says`)
        client.pace.take(piece.length)
        await onPacked(piece.length)
        hash.update(piece)
        await writeAll(file, piece)
        yield piece
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
  if (`sha256:${hash.digest('hex')}` !== digest) throw new PullError('unusable', `what came for ${digest} is something else`)
}

async function writeAll(file: FileHandle, piece: Buffer): Promise<void> {
  let written = 0
  while (written < piece.length) written += (await file.write(piece, written)).bytesWritten
}

/** Whether it is an error of this machine's disk, which a retry does not fix. */
function isLocal(error: unknown): boolean {
  return error instanceof Error && 'code' in error && ['ENOSPC', 'EDQUOT', 'EIO', 'EROFS'].includes(String(error.code))
}
