import { fairCount, fairRoom } from '../../../host-protocol/fair-room.ts'
import { Slots } from '../../slots.ts'
import { overShare, tooMany } from '../pull-error.ts'
import { bytesOf, FRESH_MS, type PulledImage, type PulledImages } from './pulled-images.ts'

/** Maximum number of images on a host, of any size; the last `RETAINED_IMAGES` of them are for accounts that have none. */
export const IMAGES_MAX = 500
export const RETAINED_IMAGES = 50
/** Maximum number of images that an account may take before containers are created from them. */
const FRESH_MAX = 250
/** If all images together take at most one part in this many of the space, no account can exceed its share, whatever the others have. */
const ROOMY_DIVISOR = 3

/** The images under the containers of an account. */
export interface ImageUse {
  /** Includes layers below a disk that was saved as an image. */
  layers: readonly string[]
  /** Digests of pulled images that are in use and cannot be removed. */
  digests: readonly string[]
}

export interface ImageSharesDeps {
  pulled: PulledImages
  /** Returns the images in use by account, also under stopped containers. */
  inUse(): Promise<Map<string, ImageUse>>
  /** Space for the images of this host in bytes. */
  maxBytes: number
  /** Whether the host is shared by accounts that do not trust one another. */
  isShared(): boolean
  now(): number
}

interface Asked {
  layers?: readonly string[]
  known?: ReadonlyMap<string, number>
  digest?: string
}

/** The space and number of images that an account uses, and its limits. */
export interface ImageRoom {
  usedBytes: number
  /** Bytes that the requested layers add to the account's use. */
  addedBytes: number
  maxBytes: number
  /** Images that the account has containers of or has just taken, with the requested one, and the most that it may have (SHR-34). */
  images: number
  maxImages: number
  /** Returns the bytes that the account may still fetch while others fetch `othersFetch` bytes. */
  freeBytes(othersFetch: number): number
}

/**
 * Limits the images in use by an account, which cannot be removed, to a share of the space that leaves as much to others (HOST-101), and
 * likewise their number (SHR-34). Images that no container uses take nothing from others.
 */
export class ImageShares {
  private readonly deps: ImageSharesDeps
  /** Images from which containers are about to be created, with the time in ms at which they were taken, by account. */
  private readonly taken = new Map<string, Map<string, number>>()
  private readonly oneEach = new Slots(() => 1)

  constructor(deps: ImageSharesDeps) {
    this.deps = deps
  }

  /** Lets an account start from an image. Throws a `PullError` when a limit would be exceeded. */
  async take(account: string, { digest, layers }: Pick<PulledImage, 'digest' | 'layers'>, signal: AbortSignal): Promise<void> {
    const { pulled, maxBytes, now } = this.deps
    // One at a time for all accounts: two that checked at once would count on the same space.
    await this.oneEach.with('', signal, async () => {
      const known = new Map([...pulled.layerBytes(), ...layers.map(({ diffId, unpackedBytes }) => [diffId, unpackedBytes] as const)])
      const fresh = this.freshOf(account)
      if (fresh.size >= FRESH_MAX && !fresh.has(digest)) throw overShare(0, maxBytes)
      const isRoomy = pulled.all().length <= IMAGES_MAX / ROOMY_DIVISOR
      // The engine need not be queried: no account can exceed its share.
      if (!isRoomy || bytesOf(known.keys(), known) > maxBytes / ROOMY_DIVISOR) {
        const asked = { layers: layers.map(({ diffId }) => diffId), known, digest }
        const { usedBytes, addedBytes, maxBytes: room, images, maxImages } = await this.roomOf(account, asked)
        // A restart from layers already in use takes nothing from others, even if the account is above its share.
        if (addedBytes > 0 && usedBytes > room) throw overShare(usedBytes, room)
        if (images > maxImages) throw tooMany(images, maxImages)
      }
      this.taken.set(account, fresh.set(digest, now()))
    })
  }

  /** Returns the use and limits of an account as if it also used `layers` and the image `digest`. */
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

  /** Returns the number of images and its limit; an image that the account uses already adds none. */
  private countOf(account: string, inUse: ReadonlyMap<string, readonly string[]>, digest: string | undefined) {
    const has = new Map([...inUse].map(([one, digests]) => [one, new Set([...digests, ...this.freshOf(one).keys()])]))
    const before = has.get(account) ?? new Set<string>()
    const own = digest === undefined ? before : new Set([...before, digest])
    const others = new Set([...has].flatMap(([one, theirs]) => (one === account ? [] : [...theirs])).filter((other) => !own.has(other)))
    const share = this.deps.isShared() ? fairCount(IMAGES_MAX, RETAINED_IMAGES, others.size) : IMAGES_MAX
    return { images: own.size, maxImages: own.size === before.size ? Math.max(share, own.size) : share }
  }

  /** Returns the layers of images that an account has taken within `FRESH_MS`. */
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
