/** What one client of a WebSocket may be told before it says anything itself. */
export const MAX_UNHEARD_BYTES = 32 * 2 ** 20
/** The same of all clients of one workload, those that were closed and still have to take it among them. */
export const MAX_UNHEARD_OF_WORKLOAD_BYTES = 64 * 2 ** 20

/**
 * What is forgotten of it each second: previews and figures that only go one way are shown for hours, and their readers say nothing. Who reads
 * nothing at all fills memory no faster than this.
 */
export const FORGOTTEN_BYTES_PER_SECOND = 256 * 2 ** 10

interface Told {
  bytes: number
  atMs: number
}

/**
 * How much clients of WebSockets were told since they said anything (NET-51). A Worker does not learn how much of a WebSocket's messages waits in
 * memory because its client does not read: what a client says is the only sign that it is there. Keeps numbers; no clock, no connection.
 */
export class Unheard<Client extends object> {
  private readonly workloads = new Map<string, Map<Client, Told>>()

  /** A client is told so many bytes more. The client that has to go because of that; null: none. */
  tell(workloadId: string, client: Client, bytes: number, nowMs: number): Client | null {
    const clients = this.workloads.get(workloadId) ?? new Map<Client, Told>()
    this.workloads.set(workloadId, clients)
    const told = remembered(clients.get(client), nowMs) + bytes
    clients.set(client, { bytes: told, atMs: nowMs })
    if (told > MAX_UNHEARD_BYTES) return client
    const all = [...clients].map(([each, what]) => ({ each, bytes: remembered(what, nowMs) }))
    if (all.reduce((sum, one) => sum + one.bytes, 0) <= MAX_UNHEARD_OF_WORKLOAD_BYTES) return null
    return all.reduce((most, one) => (one.bytes > most.bytes ? one : most)).each
  }

  /** A client has said something. */
  hear(workloadId: string, client: Client): void {
    this.leave(workloadId, client)
  }

  /** Its connection is over, and nothing waits for it any more. */
  leave(workloadId: string, client: Client): void {
    const clients = this.workloads.get(workloadId)
    clients?.delete(client)
    if (clients?.size === 0) this.workloads.delete(workloadId)
  }
}

function remembered(told: Told | undefined, nowMs: number): number {
  if (told === undefined) return 0
  return Math.max(0, told.bytes - (FORGOTTEN_BYTES_PER_SECOND * Math.max(0, nowMs - told.atMs)) / 1000)
}
