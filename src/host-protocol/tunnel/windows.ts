/** Bytes that one end takes of a stream before they are read. */
export const SMALL_WINDOW_BYTES = 32 * 1024
export const LARGE_WINDOW_BYTES = 256 * 1024
/** Streams of one tunnel at a time, and those of one workload among them (HOST-123). */
export const MAX_STREAMS = 1_024
export const MAX_STREAMS_OF_ONE = 256
/** Streams with a large window: all of a tunnel, and those of one workload, so that one tenant's slow readers leave the others theirs. */
const MAX_LARGE = 96
const MAX_LARGE_OF_ONE = 24

interface Share {
  streams: number
  large: number
}

/**
 * How much memory the streams of a tunnel may hold at one end: the sum of all windows is at most 1024 × 32 KiB + 96 × 224 KiB, 53 MiB. A stream gets
 * a large window while there are some, a small one otherwise: it goes on, slower over a long way.
 */
export class Windows {
  private readonly shares = new Map<string, Share>()
  private readonly all: Share = { streams: 0, large: 0 }

  /** The window of a new stream of this workload; null when there are too many. */
  take(workloadId: string): number | null {
    const own = this.shares.get(workloadId) ?? { streams: 0, large: 0 }
    if (this.all.streams >= MAX_STREAMS || own.streams >= MAX_STREAMS_OF_ONE) return null
    const isLarge = this.all.large < MAX_LARGE && own.large < MAX_LARGE_OF_ONE
    this.shares.set(workloadId, own)
    for (const share of [own, this.all]) {
      share.streams += 1
      if (isLarge) share.large += 1
    }
    return isLarge ? LARGE_WINDOW_BYTES : SMALL_WINDOW_BYTES
  }

  /** The stream is over. */
  giveBack(workloadId: string, windowBytes: number): void {
    const own = this.shares.get(workloadId)
    if (own === undefined) return
    for (const share of [own, this.all]) {
      share.streams -= 1
      if (windowBytes === LARGE_WINDOW_BYTES) share.large -= 1
    }
    if (own.streams === 0) this.shares.delete(workloadId)
  }

  /** Streams that lead to this workload. */
  streamsOf(workloadId: string): number {
    return this.shares.get(workloadId)?.streams ?? 0
  }
}
