import type { Log } from '../../log.ts'
import { overShare, tooLarge } from '../pull-error.ts'
import { IMAGES_MAX, type ImageRoom } from './image-shares.ts'
import { FRESH_MS, type PulledImages } from './pulled-images.ts'
import { removalOrder } from './removal-order.ts'

export interface ImageSpaceDeps {
  pulled: PulledImages
  /** Space for the unpacked images of this host in bytes. */
  maxBytes: number
  /** Removes an image unless a container uses it; returns whether it is removed. */
  remove(digest: string): Promise<boolean>
  log: Log
  now(): number
}

/** Limits the images of a host to their space: the least recently used are removed, never those in use (HOST-99). */
export class ImageSpace {
  readonly maxBytes: number
  private readonly deps: ImageSpaceDeps
  /** Bytes of layers that were received but are not in the engine yet, by account. */
  private readonly spooledBytes = new Map<string, number>()

  constructor(deps: ImageSpaceDeps) {
    this.deps = deps
    this.maxBytes = deps.maxBytes
  }

  /**
   * Counts compressed bytes and makes space as they arrive: a registry that announces much and sends nothing takes nothing from others. The
   * concurrent downloads of one account stay within its share. Throws a `PullError`.
   */
  async spooling<T>(account: string, room: ImageRoom, act: (onCome: (bytes: number) => Promise<void>) => Promise<T>): Promise<T> {
    let come = 0
    const onCome = async (more: number) => {
      come += more
      const own = this.addSpooled(account, more)
      const free = room.freeBytes(this.spooled() - own)
      if (own > free) throw overShare(room.usedBytes + own, room.usedBytes + free)
      if (this.takenBytes() > this.maxBytes) await this.makeRoom(0, account)
    }
    try {
      return await act(onCome)
    } finally {
      this.addSpooled(account, -come)
    }
  }

  /** Removes images until an account has space for `bytes` more. Throws a `PullError` when there is not enough. */
  async makeRoom(bytes: number, account: string): Promise<void> {
    const { pulled, log, now, remove, maxBytes } = this.deps
    const images = pulled.all()
    const isFull = this.takenBytes() + bytes > maxBytes
    const scene = { account, images, layerBytes: pulled.layerBytes(), max: isFull ? { bytes: maxBytes } : { images: IMAGES_MAX } }
    const freshFromMs = now() - FRESH_MS
    const removable = images.filter(({ usedAtMs }) => usedAtMs <= freshFromMs)
    for (const image of this.hasRoom(bytes) ? [] : removalOrder(scene, removable)) {
      if (this.hasRoom(bytes)) return
      if (!(await remove(image.digest))) continue
      pulled.discard(image.digest)
      log.info('an image was removed to make room', { image: image.publicTexts[0] ?? image.places[0] ?? image.digest })
    }
    if (!this.hasRoom(bytes)) throw tooLarge('it takes', bytes || this.spooled(), Math.max(0, this.maxBytes - pulled.usedBytes()))
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

  /** Bytes of all accounts that were received but are not in the engine yet. */
  private spooled(): number {
    return [...this.spooledBytes.values()].reduce((sum, bytes) => sum + bytes, 0)
  }

  private takenBytes(): number {
    return this.spooled() + this.deps.pulled.usedBytes()
  }
}
