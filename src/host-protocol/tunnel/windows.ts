import { fairCount, fairRoom } from '../fair-room.ts'

/** Bytes of a stream that one end accepts before they are read. */
export const SMALL_WINDOW_BYTES = 32 * 1024
export const LARGE_WINDOW_BYTES = 256 * 1024
/** Maximum number of concurrent streams of one tunnel, and of one workload among them (HOST-123). */
export const MAX_STREAMS = 1_024
export const MAX_STREAMS_OF_ONE = 256
/** Streams reserved for terminals of accounts that have none open, and for accounts that have no stream. */
export const RESERVED_FOR_TERMINALS = 64
export const RESERVED_FOR_NEWCOMERS = 64
/**
 * Maximum number of streams with a large window: of a tunnel, and of one workload, so that slow readers of one tenant leave some to the
 * others.
 */
const MAX_LARGE = 96
const MAX_LARGE_OF_ONE = 24

/** The attributes by which a stream is counted. */
export interface Opener {
  workloadId: string
  account: string
  /** Whether it leads to a command. */
  isTerminal: boolean
}

/** Counts of streams. */
export interface Share {
  streams: number
  terminals: number
  large: number
}

/**
 * Whether an account may open one more stream of a tunnel (SHR-30): up to as many as it leaves to others; one if it has none; and a
 * terminal if it has none open. `own` is a part of `all`. Pure.
 */
export function mayOpen(own: Readonly<Share>, all: Readonly<Share>, isTerminal: boolean): boolean {
  if (isTerminal && own.terminals === 0) return all.streams < MAX_STREAMS
  return own.streams < fairCount(MAX_STREAMS - RESERVED_FOR_TERMINALS, RESERVED_FOR_NEWCOMERS, all.streams - own.streams)
}

/**
 * Limits the memory of a tunnel's streams at one end: the sum of all windows is at most 1024 × 32 KiB + 96 × 224 KiB = 53 MiB. A stream
 * gets a large window while its account may have one, otherwise a small one, which is slower over long distances.
 */
export class Windows {
  private readonly workloads = new Map<string, Share>()
  private readonly accounts = new Map<string, Share>()
  private readonly all: Share = none()

  /** Returns the window of a stream that this end opens; null when the account, the workload or the tunnel has too many. */
  open(opener: Opener): number | null {
    return mayOpen(this.accounts.get(opener.account) ?? none(), this.all, opener.isTerminal) ? this.answer(opener) : null
  }

  /**
   * Returns the window of a stream that the other end opens. The other end decides who may open one; here only memory counts. Null when
   * there are too many.
   */
  answer(opener: Opener): number | null {
    const ofWorkload = this.workloads.get(opener.workloadId) ?? none()
    if (this.all.streams >= MAX_STREAMS || ofWorkload.streams >= MAX_STREAMS_OF_ONE) return null
    const ofAccount = this.accounts.get(opener.account) ?? none()
    const room = fairRoom(MAX_LARGE, this.all.large - ofAccount.large)
    const isLarge = ofWorkload.large < MAX_LARGE_OF_ONE && ofAccount.large < room
    this.workloads.set(opener.workloadId, ofWorkload)
    this.accounts.set(opener.account, ofAccount)
    for (const share of [ofWorkload, ofAccount, this.all]) add(share, opener, isLarge, 1)
    return isLarge ? LARGE_WINDOW_BYTES : SMALL_WINDOW_BYTES
  }

  /** Releases the window of a stream that has ended. */
  giveBack(opener: Opener, windowBytes: number): void {
    const [ofWorkload, ofAccount] = [this.workloads.get(opener.workloadId), this.accounts.get(opener.account)]
    if (ofWorkload === undefined || ofAccount === undefined) return
    for (const share of [ofWorkload, ofAccount, this.all]) add(share, opener, windowBytes === LARGE_WINDOW_BYTES, -1)
    if (ofWorkload.streams === 0) this.workloads.delete(opener.workloadId)
    if (ofAccount.streams === 0) this.accounts.delete(opener.account)
  }

  /** Returns the number of streams to this workload. */
  streamsOf(workloadId: string): number {
    return this.workloads.get(workloadId)?.streams ?? 0
  }

  /** Returns the number of streams of this account. */
  streamsOfAccount(account: string): number {
    return this.accounts.get(account)?.streams ?? 0
  }
}

function none(): Share {
  return { streams: 0, terminals: 0, large: 0 }
}

function add(share: Share, { isTerminal }: Opener, isLarge: boolean, by: 1 | -1): void {
  share.streams += by
  if (isTerminal) share.terminals += by
  if (isLarge) share.large += by
}
