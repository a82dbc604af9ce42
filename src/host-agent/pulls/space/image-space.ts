import type { Log } from '../../log.ts'
import { overShare, tooLarge } from '../pull-error.ts'
import type { PulledImage, PulledImages } from './pulled-images.ts'

/** An image that was used so lately may be about to be started: nothing is made of it yet that would keep it. */
export const FRESH_MS = 60_000
/** Images that are kept, however small they are. */
const IMAGES_MAX = 500

export interface ImageSpaceDeps {
  pulled: PulledImages
  /** What the images of this host may take, unpacked. */
  maxBytes: number
  /** Removes an image unless something is made of it; says whether it is gone. */
  remove(digest: string): Promise<boolean>
  log: Log
  now(): number
}

/** Keeps the images of a host within their space: those that were not used for longest go, never those in use (HOST-99). */
export class ImageSpace {
  readonly maxBytes: number
  private readonly deps: ImageSpaceDeps
  /** Bytes of layers that have come and are not in the engine yet, by account. */
  private readonly spooledBytes = new Map<string, number>()

  constructor(deps: ImageSpaceDeps) {
    this.deps = deps
    this.maxBytes = deps.maxBytes
  }

  /**
   * Makes room for what will come packed, and counts it as it comes: a registry that has announced much and sends nothing takes nothing from
   * others. What one account fetches at a time stays within `freeBytes`, of its share. Throws a `PullError`.
   */
  async spooling<T>(
    bytes: number,
    { account, freeBytes }: { account: string; freeBytes: number },
    act: (onCome: (bytes: number) => void) => Promise<T>,
  ): Promise<T> {
    await this.makeRoom(bytes)
    let come = 0
    const onCome = (more: number) => {
      come += more
      const own = this.addSpooled(account, more)
      if (own > freeBytes) throw overShare(own, Math.max(0, freeBytes))
      if (this.takenBytes() > this.maxBytes) throw tooLarge('packed it has', bytes, Math.max(0, this.maxBytes - this.takenBytes() + come))
    }
    try {
      return await act(onCome)
    } finally {
      this.addSpooled(account, -come)
    }
  }

  /** Removes images until `bytes` more have room. Throws a `PullError` when they have none. */
  async makeRoom(bytes: number): Promise<void> {
    const { pulled, log, now, remove } = this.deps
    for (const image of candidates(pulled.all(), now())) {
      if (this.hasRoom(bytes)) return
      if (!(await remove(image.digest))) continue
      pulled.forget(image.digest)
      log.info('an image was removed to make room', { image: image.publicTexts[0] ?? image.places[0] ?? image.digest })
    }
    if (!this.hasRoom(bytes)) throw tooLarge('it takes', bytes, Math.max(0, this.maxBytes - this.takenBytes()))
  }

  private hasRoom(bytes: number): boolean {
    const { pulled } = this.deps
    return this.takenBytes() + bytes <= this.maxBytes && pulled.all().length < IMAGES_MAX
  }

  private addSpooled(account: string, bytes: number): number {
    const own = (this.spooledBytes.get(account) ?? 0) + bytes
    if (own > 0) this.spooledBytes.set(account, own)
    else this.spooledBytes.delete(account)
    return own
  }

  private takenBytes(): number {
    return [...this.spooledBytes.values()].reduce((sum, bytes) => sum + bytes, this.deps.pulled.usedBytes())
  }
}

/** What may go, the least recently used first. */
function candidates(images: readonly PulledImage[], nowMs: number): PulledImage[] {
  return images.filter(({ usedAtMs }) => usedAtMs <= nowMs - FRESH_MS).toSorted((a, b) => a.usedAtMs - b.usedAtMs)
}
