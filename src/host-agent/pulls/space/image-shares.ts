import { fairCount, fairRoom } from '../../../host-protocol/fair-room.ts'
import { overShare, tooMany } from '../pull-error.ts'
import { Turns } from '../turns.ts'
import { bytesOf, FRESH_MS, type PulledImage, type PulledImages } from './pulled-images.ts'

/** Images of a host, however small they are; the last of them are for accounts that have none. */
export const IMAGES_MAX = 500
export const IMAGES_KEPT = 50
/** Images that an account may take before containers are made of them. */
const FRESH_MAX = 250
/** Where all images take no more than one in so many of the space, no account can have too much of it, whoever else has the rest. */
const NOBODY_HAS_TOO_MUCH = 3

/** What the containers of an account lie on. */
export interface ImageUse {
  /** Also those below a disk that was made an image. */
  layers: readonly string[]
  /** Digests of pulled images that nobody can remove. */
  digests: readonly string[]
}

export interface ImageSharesDeps {
  pulled: PulledImages
  /** What is below the containers of each account, stopped ones too. */
  inUse(): Promise<Map<string, ImageUse>>
  /** What the images of this host may take. */
  maxBytes: number
  /** Whether accounts share it that do not trust one another. */
  isShared(): boolean
  now(): number
}

interface Asked {
  layers?: readonly string[]
  known?: ReadonlyMap<string, number>
  digest?: string
}

/** What an account has of the space, and what it may have in all. */
export interface ImageRoom {
  usedBytes: number
  /** How much of it the asked layers add to what it uses without them. */
  addedBytes: number
  maxBytes: number
  /** Images that it has containers of or has just taken, with the asked one, and the most that it may have (SHR-34). */
  images: number
  maxImages: number
  /** What is left for what it fetches, while others fetch so much. */
  freeBytes(othersFetch: number): number
}

/**
 * Keeps the images that an account has containers of, which nobody can remove, to as much of the space as it leaves to others (HOST-101), and to as
 * many of them (SHR-34). Images
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
      const isRoomy = pulled.all().length <= IMAGES_MAX / NOBODY_HAS_TOO_MUCH
      // The engine need not be asked.
      if (!isRoomy || bytesOf(known.keys(), known) > maxBytes / NOBODY_HAS_TOO_MUCH) {
        const asked = { layers: layers.map(({ diffId }) => diffId), known, digest }
        const { usedBytes, addedBytes, maxBytes: room, images, maxImages } = await this.roomOf(account, asked)
        // What starts anew takes nothing from others, however many have come meanwhile.
        if (addedBytes > 0 && usedBytes > room) throw overShare(usedBytes, room)
        if (images > maxImages) throw tooMany(images, maxImages)
      }
      this.taken.set(account, fresh.set(digest, now()))
    })
  }

  /** What an account uses, with `layers` and the image `digest` beside what it has. */
  async roomOf(account: string, { layers = [], known = this.deps.pulled.layerBytes(), digest }: Asked = {}): Promise<ImageRoom> {
    const { maxBytes, isShared } = this.deps
    const inUse = known.size === 0 ? new Map<string, ImageUse>() : await this.deps.inUse()
    const accounts = new Set([...inUse.keys(), ...this.taken.keys(), account])
    const all = new Map([...accounts].map((one) => [one, [...(inUse.get(one)?.layers ?? []), ...this.freshLayers(one)]]))
    const own = new Set([...layers, ...(all.get(account) ?? [])])
    const usedBytes = bytesOf(own, known)
    const others = [...all].flatMap(([one, theirs]) => (one === account ? [] : theirs)).filter((diffId) => !own.has(diffId))
    const shareOf = (othersTake: number) => (isShared() ? fairRoom(maxBytes, othersTake) : maxBytes)
    const othersUse = bytesOf(others, known)
    return {
      usedBytes,
      addedBytes: usedBytes - bytesOf(new Set(all.get(account) ?? []), known),
      maxBytes: shareOf(othersUse),
      ...this.countOf(account, new Map([...accounts].map((one) => [one, inUse.get(one)?.digests ?? []])), digest),
      freeBytes: (othersFetch) => Math.max(0, shareOf(othersUse + othersFetch) - usedBytes),
    }
  }

  /** Images by number; one that the account has already adds none. */
  private countOf(account: string, inUse: ReadonlyMap<string, readonly string[]>, digest: string | undefined) {
    const has = new Map([...inUse].map(([one, digests]) => [one, new Set([...digests, ...this.freshOf(one).keys()])]))
    const before = has.get(account) ?? new Set<string>()
    const own = digest === undefined ? before : new Set([...before, digest])
    const others = new Set([...has].flatMap(([one, theirs]) => (one === account ? [] : [...theirs])).filter((other) => !own.has(other)))
    const share = this.deps.isShared() ? fairCount(IMAGES_MAX, IMAGES_KEPT, others.size) : IMAGES_MAX
    return { images: own.size, maxImages: own.size === before.size ? Math.max(share, own.size) : share }
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
