import { waitsAfterStall } from './pull-error.ts'

const BASE_MS = 60_000
const MAX_MS = 30 * 60_000
const REMEMBERED_MAX = 1_000

interface Stall {
  count: number
  untilMs: number
}

/**
 * Registries that were too slow for an account. The account waits longer before each further pull from one; pulls that already wait for a
 * turn then fail at once and pass it on (SHR-37).
 */
export class Stalls {
  private readonly now: () => number
  private readonly known = new Map<string, Stall>()

  constructor(now: () => number) {
    this.now = now
  }

  /** Throws a `PullError` while the account must not use that registry. */
  check(account: string, host: string): void {
    const stall = this.known.get(nameOf(account, host))
    if (stall !== undefined && this.now() < stall.untilMs) throw waitsAfterStall(host, stall.untilMs - this.now())
  }

  /** Records a stall; concurrent pulls that stall count once. */
  note(account: string, host: string): void {
    const name = nameOf(account, host)
    const previous = this.known.get(name)
    if (previous !== undefined && this.now() < previous.untilMs) return
    const count = (previous?.count ?? 0) + 1
    this.known.delete(name)
    this.known.set(name, { count, untilMs: this.now() + Math.min(MAX_MS, BASE_MS * 2 ** (count - 1)) })
    const [oldest] = this.known.keys()
    if (this.known.size > REMEMBERED_MAX && oldest !== undefined) this.known.delete(oldest)
  }

  /** Clears the stalls, after an image has arrived completely. */
  discard(account: string, host: string): void {
    this.known.delete(nameOf(account, host))
  }
}

const nameOf = (account: string, host: string) => `${account} ${host}`
