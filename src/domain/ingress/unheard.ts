import { fairRoom } from '../../host-protocol/fair-room.ts'

/** Upper bound of bytes sent to one WebSocket client without a message from it. */
export const MAX_UNHEARD_BYTES = 24 * 2 ** 20
/**
 * The same for all clients of a host. With the windows of its streams (53 MiB) and the bytes that `SPARED_BYTES` lets pass, it stays below
 * the 128 MB of the tunnel's Durable Object.
 */
export const MAX_UNHEARD_OF_HOST_BYTES = 48 * 2 ** 20
/** A client with fewer unanswered bytes is never closed for the sake of others: most messages are small, and their clients read. */
export const SPARED_BYTES = 16 * 2 ** 10

/**
 * The bytes per client that stop counting each second: previews and metrics are streamed one way for hours, and their readers send nothing.
 * A client that does not read fills memory no faster than this.
 */
export const DECAY_BYTES_PER_SECOND = 256 * 2 ** 10
/** The same for all clients that one account pays for, in equal parts: many that do not read fill memory no faster than four. */
export const DECAY_OF_ACCOUNT_PER_SECOND = 2 ** 20

/** The workload that a WebSocket leads to, and the account that pays for it (PLAN-5). */
export interface Listener {
  workloadId: string
  account: string
}

interface Unanswered extends Listener {
  bytes: number
  /** It was chosen to be closed. The bytes sent to it count until it has left. */
  isClosed: boolean
}

/**
 * Counts the bytes sent to WebSocket clients since their last message (NET-51). A Worker cannot see how many of a WebSocket's messages wait
 * in memory because its client does not read: a message from the client is the only sign that it is there. They all wait in the memory of
 * one object, so an account may use as much as it leaves to others (SHR-43), and each of its workloads as much as that leaves to its other
 * ones. Stores numbers only; no clock, no connection.
 */
export class Unheard<Client extends object> {
  private readonly clients = new Map<Client, Unanswered>()
  private decayedAtMs = 0

  /** Whether one more client may connect: without this check, closed clients that do not read would be followed by others without end. */
  mayListen(listener: Listener, nowMs: number): boolean {
    this.discard(nowMs)
    return this.exceededLimit(listener) === null
  }

  /** Counts bytes sent to a client. Returns the client to close because of them; null: none. */
  countSent({ workloadId, account }: Listener, client: Client, bytes: number, nowMs: number): Client | null {
    this.discard(nowMs)
    const unanswered = this.clients.get(client) ?? { workloadId, account, bytes: 0, isClosed: false }
    unanswered.bytes += bytes
    this.clients.set(client, unanswered)
    const gone = this.clientToClose(unanswered, client)
    const toClose = gone === null ? undefined : this.clients.get(gone)
    if (toClose) toClose.isClosed = true
    return gone
  }

  /** Counts a message from a client. A message from a client that was closed does not count: it has not received the close yet. */
  hear(client: Client): void {
    if (this.clients.get(client)?.isClosed === false) this.clients.delete(client)
  }

  /** Forgets a client whose connection has ended: nothing waits in memory for it. */
  leave(client: Client): void {
    this.clients.delete(client)
  }

  private clientToClose(unanswered: Unanswered, client: Client): Client | null {
    if (unanswered.bytes > MAX_UNHEARD_BYTES) return client
    const over = this.exceededLimit(unanswered)
    if (over === null) return null
    return this.mostUnanswered((one) => one[over] === unanswered[over])
  }

  /** The scope, account or workload, whose clients have more unanswered bytes than its share allows; null: neither. */
  private exceededLimit(listener: Listener): keyof Listener | null {
    let [all, own, beside] = [0, 0, 0]
    for (const { account, workloadId, bytes } of this.clients.values()) {
      all += bytes
      if (account === listener.account) own += bytes
      if (workloadId === listener.workloadId) beside += bytes
    }
    const room = fairRoom(MAX_UNHEARD_OF_HOST_BYTES, all - own)
    if (own > room) return 'account'
    return beside > fairRoom(room, own - beside) ? 'workloadId' : null
  }

  private mostUnanswered(counts: (unanswered: Unanswered) => boolean): Client | null {
    let [most, bytes]: [Client | null, number] = [null, SPARED_BYTES]
    for (const [client, unanswered] of this.clients)
      if (!unanswered.isClosed && unanswered.bytes > bytes && counts(unanswered)) [most, bytes] = [client, unanswered.bytes]
    return most
  }

  /** Stops counting bytes by the time that has passed; the clients of one account divide its rate. */
  private discard(nowMs: number): void {
    const seconds = Math.max(0, nowMs - this.decayedAtMs) / 1000
    this.decayedAtMs = Math.max(this.decayedAtMs, nowMs)
    if (seconds === 0) return
    const counts = new Map<string, number>()
    for (const { account } of this.clients.values()) counts.set(account, (counts.get(account) ?? 0) + 1)
    for (const [client, unanswered] of this.clients) {
      const part = DECAY_OF_ACCOUNT_PER_SECOND / (counts.get(unanswered.account) ?? 1)
      unanswered.bytes -= Math.min(DECAY_BYTES_PER_SECOND, part) * seconds
      if (unanswered.bytes <= 0) this.clients.delete(client)
    }
  }
}
