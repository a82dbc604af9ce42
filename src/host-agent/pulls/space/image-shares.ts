import { fairRoom } from '../../../host-protocol/fair-room.ts'
import { overShare } from '../pull-error.ts'
import { Turns } from '../turns.ts'
import { bytesOf, FRESH_MS, type PulledImage, type PulledImages } from './pulled-images.ts'

/** Images that an account may take before containers are made of them. */
const FRESH_MAX = 250
/** Where all images take no more than one in so many of the space, no account can have too much of it, whoever else has the rest. */
const NOBODY_HAS_TOO_MUCH = 3

export interface ImageSharesDeps {
  pulled: PulledImages
  /** The layers below the containers of each account, also of those that go on with a disk that was made an image. */
  layersInUse(): Promise<Map<string, string[]>>
  /** What the images of this host may take. */
  maxBytes: number
  /** Whether accounts share it that do not trust one another. */
  isShared(): boolean
  now(): number
}

/** What an account has of the space, and what it may have in all. */
export interface ImageRoom {
  usedBytes: number
  /** How much of it the asked layers add to what it uses without them. */
  addedBytes: number
  maxBytes: number
  /** What is left for what it fetches, while others fetch so much. */
  freeBytes(othersFetch: number): number
}

/**
 * Keeps the images that an account has containers of, which nobody can remove, to as much of the space as it leaves to others (HOST-101). Images
 * that it does not use are in nobody's way.
 */
export class ImageShares {
  private readonly deps: ImageSharesDeps
  /** Images for which containers are about to be made, by account: when they were taken. */
  private readonly taken = new Map<string, Map<string, number>>()
  private readonly oneEach = new Turns(1)

  constructor(deps: ImageSharesDeps) {
    this.deps = deps
  }

  /** Lets an account start from an image. Throws a `PullError`. */
  async take(account: string, { digest, layers }: Pick<PulledImage, 'digest' | 'layers'>, signal: AbortSignal): Promise<void> {
    const { pulled, maxBytes, now } = this.deps
    // In turns for all: two accounts that look at the same time would have the same room.
    await this.oneEach.with('', signal, async () => {
      const known = new Map([...pulled.layerBytes(), ...layers.map(({ diffId, unpackedBytes }) => [diffId, unpackedBytes] as const)])
      const fresh = this.freshOf(account)
      if (fresh.size >= FRESH_MAX && !fresh.has(digest)) throw overShare(0, maxBytes)
      // The engine need not be asked.
      if (bytesOf(known.keys(), known) > maxBytes / NOBODY_HAS_TOO_MUCH) {
        const { usedBytes, addedBytes, maxBytes: room } = await this.roomOf(account, { layers: layers.map(({ diffId }) => diffId), known })
        // What starts anew takes nothing from others, however many have come meanwhile.
        if (addedBytes > 0 && usedBytes > room) throw overShare(usedBytes, room)
      }
      this.taken.set(account, fresh.set(digest, now()))
    })
  }

  /** What an account uses, with `layers` beside what it has. */
  async roomOf(
    account: string,
    { layers, known }: { layers: readonly string[]; known: ReadonlyMap<string, number> } = {
      layers: [],
      known: this.deps.pulled.layerBytes(),
    },
  ): Promise<ImageRoom> {
    const { maxBytes, isShared, layersInUse } = this.deps
    const inUse = known.size === 0 ? new Map<string, string[]>() : await layersInUse()
    const accounts = new Set([...inUse.keys(), ...this.taken.keys(), account])
    const all = new Map([...accounts].map((one) => [one, [...(inUse.get(one) ?? []), ...this.freshLayers(one)]]))
    const own = new Set([...layers, ...(all.get(account) ?? [])])
    const usedBytes = bytesOf(own, known)
    const others = [...all].flatMap(([one, theirs]) => (one === account ? [] : theirs)).filter((diffId) => !own.has(diffId))
    const shareOf = (othersTake: number) => (isShared() ? fairRoom(maxBytes, othersTake) : maxBytes)
    const othersUse = bytesOf(others, known)
    return {
      usedBytes,
      addedBytes: usedBytes - bytesOf(new Set(all.get(account) ?? []), known),
      maxBytes: shareOf(othersUse),
      freeBytes: (othersFetch) => Math.max(0, shareOf(othersUse + othersFetch) - usedBytes),
    }
  }

  /** Layers of images that an account has taken a moment ago. */
  private freshLayers(account: string): string[] {
    const fresh = [...this.freshOf(account).keys()].flatMap((digest) => this.deps.pulled.get(digest)?.layers ?? [])
    return fresh.map(({ diffId }) => diffId)
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
