import { fairRoom } from '../../host-protocol/fair-room.ts'

/** What one client of a WebSocket may be told before it says anything itself. */
export const MAX_UNHEARD_BYTES = 24 * 2 ** 20
/**
 * The same of all clients of a machine. Beside the windows of its streams (53 MiB) and what `SPARED_BYTES` lets pass it stays below the 128 MB that
 * the object of the tunnel has.
 */
export const MAX_UNHEARD_OF_HOST_BYTES = 48 * 2 ** 20
/** A client that was told less is closed for no other's sake: most messages are small, and their clients read. */
export const SPARED_BYTES = 16 * 2 ** 10

/**
 * What is forgotten of one client each second: previews and figures that only go one way are shown for hours, and their readers say nothing. Who
 * reads nothing at all fills memory no faster than this.
 */
export const FORGOTTEN_BYTES_PER_SECOND = 256 * 2 ** 10
/** The same of all clients that one account pays for, in even parts: many that read nothing fill memory no faster than four. */
export const FORGOTTEN_OF_ACCOUNT_PER_SECOND = 2 ** 20

/** Whose WebSocket it is: it leads to a workload, and an account pays for it (PLN-7). */
export interface Listener {
  workloadId: string
  account: string
}

interface Told extends Listener {
  bytes: number
  /** It was to be closed. What it was told waits for it until it has left. */
  isClosed: boolean
}

/**
 * How much clients of WebSockets were told since they said anything (NET-51). A Worker does not learn how much of a WebSocket's messages waits in
 * memory because its client does not read: what a client says is the only sign that it is there. All of it waits in the memory of one object, so
 * an account has as much as it leaves to others (SHR-43), and each of its workloads as much as that leaves to its other ones. Keeps numbers; no
 * clock, no connection.
 */
export class Unheard<Client extends object> {
  private readonly clients = new Map<Client, Told>()
  private forgottenAtMs = 0

  /** Whether one more client may listen: closed ones that do not take what they were told would be followed by others without end. */
  mayListen(listener: Listener, nowMs: number): boolean {
    this.forget(nowMs)
    return this.whatIsOver(listener) === null
  }

  /** A client is told so many bytes more. The client that has to go because of that; null: none. */
  tell({ workloadId, account }: Listener, client: Client, bytes: number, nowMs: number): Client | null {
    this.forget(nowMs)
    const told = this.clients.get(client) ?? { workloadId, account, bytes: 0, isClosed: false }
    told.bytes += bytes
    this.clients.set(client, told)
    const gone = this.whoGoes(told, client)
    const toClose = gone === null ? undefined : this.clients.get(gone)
    if (toClose) toClose.isClosed = true
    return gone
  }

  /** A client has said something. What one says that was closed proves nothing: it has not taken the end yet. */
  hear(client: Client): void {
    if (this.clients.get(client)?.isClosed === false) this.clients.delete(client)
  }

  /** Its connection is over, and nothing waits for it any more. */
  leave(client: Client): void {
    this.clients.delete(client)
  }

  private whoGoes(told: Told, client: Client): Client | null {
    if (told.bytes > MAX_UNHEARD_BYTES) return client
    const over = this.whatIsOver(told)
    if (over === null) return null
    return this.mostTold((one) => one[over] === told[over])
  }

  /** Of what a listener's clients were told too much together. */
  private whatIsOver(listener: Listener): keyof Listener | null {
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

  private mostTold(counts: (told: Told) => boolean): Client | null {
    let [most, bytes]: [Client | null, number] = [null, SPARED_BYTES]
    for (const [client, told] of this.clients)
      if (!told.isClosed && told.bytes > bytes && counts(told)) [most, bytes] = [client, told.bytes]
    return most
  }

  /** Of many clients of one account each forgets a part of what that account does. */
  private forget(nowMs: number): void {
    const seconds = Math.max(0, nowMs - this.forgottenAtMs) / 1000
    this.forgottenAtMs = Math.max(this.forgottenAtMs, nowMs)
    if (seconds === 0) return
    const counts = new Map<string, number>()
    for (const { account } of this.clients.values()) counts.set(account, (counts.get(account) ?? 0) + 1)
    for (const [client, told] of this.clients) {
      const part = FORGOTTEN_OF_ACCOUNT_PER_SECOND / (counts.get(told.account) ?? 1)
      told.bytes -= Math.min(FORGOTTEN_BYTES_PER_SECOND, part) * seconds
      if (told.bytes <= 0) this.clients.delete(client)
    }
  }
}
