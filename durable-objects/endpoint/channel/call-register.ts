/** An open take or stop poll. */
export interface OpenCall {
  n: number
  /** The worker of a take; null for a stop poll. */
  takeOf: string | null
  /** Whether its worker has gone. */
  left: boolean
  /** Ends it without an answer for the worker. */
  leave(): void
}

/** Ended takes and stop polls that are remembered: as many as a hello names. */
const MAX_ENDED = 2_048

/** The takes and stop polls of one channel by number: those that are open, and those that ended last. */
export class CallRegister {
  private readonly open = new Map<number, OpenCall>()
  /** Numbers of the calls that ended last, oldest first. */
  private readonly ended = new Set<number>()

  /** The open calls. Calls may end while they are read. */
  all(): Iterable<OpenCall> {
    return this.open.values()
  }

  /** The open call under a number. */
  find(n: number): OpenCall | undefined {
    return this.open.get(n)
  }

  /** Whether a call ended under this number recently. */
  hasEnded(n: number): boolean {
    return this.ended.has(n)
  }

  add(call: OpenCall): void {
    this.open.set(call.n, call)
  }

  /** Ends a call; false if it has ended: its number may be that of another one by now. */
  end(call: OpenCall): boolean {
    const isOpen = this.open.get(call.n) === call
    if (isOpen) this.remove(call.n)
    return isOpen
  }

  /** Ends the call under a number, whether or not it is open. */
  remove(n: number): void {
    this.open.delete(n)
    this.ended.delete(n)
    this.ended.add(n)
    const [oldest] = this.ended
    if (this.ended.size > MAX_ENDED && oldest !== undefined) this.ended.delete(oldest)
  }

  /** Removes the open calls, without remembering them. */
  clear(): void {
    this.open.clear()
  }
}
