import type { Isolation } from '../../../host-protocol/messages.ts'
import { overShare } from '../pull-error.ts'
import { Turns } from '../turns.ts'
import { FRESH_MS } from './image-space.ts'
import type { PulledImage, PulledImages } from './pulled-images.ts'

/** Images that an account may take before containers are made of them. */
const FRESH_MAX = 250

export interface ImageSharesDeps {
  pulled: PulledImages
  /** The layers of each image that an account has containers of, also of those that go on with a disk that was made an image. */
  layersInUse(account: string): Promise<string[]>
  /** What the images that one account uses may take. */
  maxBytes: number
  now(): number
}

/** What an account may fill of the space: all of it where it has the host to itself, or is trusted by the others (HOST-101). */
export function shareOf(spaceBytes: number, isolation: Isolation): number {
  return isolation.network === true && isolation.trustedTenants !== true ? Math.floor(spaceBytes / 2) : spaceBytes
}

/**
 * Keeps the images that an account has containers of, which nobody can remove, within its share of the space (HOST-101). Images that it does not
 * use are in nobody's way.
 */
export class ImageShares {
  readonly maxBytes: number
  private readonly deps: ImageSharesDeps
  /** Images for which containers are about to be made, by account: when they were taken. */
  private readonly taken = new Map<string, Map<string, number>>()
  private readonly oneEach = new Turns(1)

  constructor(deps: ImageSharesDeps) {
    this.deps = deps
    this.maxBytes = deps.maxBytes
  }

  /** Lets an account start from an image. Throws a `PullError`. */
  async take(account: string, { digest, layers }: Pick<PulledImage, 'digest' | 'layers'>, signal: AbortSignal): Promise<void> {
    const { pulled, now } = this.deps
    const known = new Map([...pulled.layerBytes(), ...layers.map(({ diffId, unpackedBytes }) => [diffId, unpackedBytes] as const)])
    await this.oneEach.with(account, signal, async () => {
      const fresh = this.freshOf(account)
      const wanted = layers.map(({ diffId }) => diffId)
      // As long as all images together take no more than a share, the engine need not be asked.
      const bytes = sumOf(known) <= this.maxBytes ? 0 : bytesOf([...wanted, ...(await this.layersOf(account))], known)
      if (bytes > this.maxBytes || fresh.size >= FRESH_MAX) throw overShare(bytes, this.maxBytes)
      this.taken.set(account, fresh.set(digest, now()))
    })
  }

  /** What the images take that an account uses. */
  async usedBytes(account: string): Promise<number> {
    const known = this.deps.pulled.layerBytes()
    return sumOf(known) === 0 ? 0 : bytesOf(await this.layersOf(account), known)
  }

  /** Layers below its containers, and of images taken a moment ago. */
  private async layersOf(account: string): Promise<string[]> {
    const { pulled, layersInUse } = this.deps
    const fresh = [...this.freshOf(account).keys()].flatMap((digest) => pulled.get(digest)?.layers ?? [])
    return [...fresh.map(({ diffId }) => diffId), ...(await layersInUse(account))]
  }

  private freshOf(account: string): Map<string, number> {
    const since = this.deps.now() - FRESH_MS
    for (const [other, images] of this.taken) {
      for (const [digest, takenAtMs] of images) if (takenAtMs < since) images.delete(digest)
      if (images.size === 0) this.taken.delete(other)
    }
    return this.taken.get(account) ?? new Map()
  }
}

/** Of each layer once; what was not pulled is not of the images' space. */
function bytesOf(layers: readonly string[], known: ReadonlyMap<string, number>): number {
  return [...new Set(layers)].reduce((sum, diffId) => sum + (known.get(diffId) ?? 0), 0)
}

function sumOf(known: ReadonlyMap<string, number>): number {
  return [...known.values()].reduce((sum, bytes) => sum + bytes, 0)
}
