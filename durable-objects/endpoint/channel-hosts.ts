import { MAX_WORKERS, type PlaneFrame } from '../../src/host-protocol/worker-channel.ts'

/** The hosts with an open channel, for the rest of the object. */
export class ChannelHosts {
  /** Hosts whose channels are older than this instance of the object, and whose agents have not said hello to it (CHN-30), with the time of their last frame. */
  readonly unheard = new Map<string, number>()
  private readonly senders = new Map<string, (frame: PlaneFrame) => void>()

  /** A host has this channel from now on. */
  add(hostId: string, send: (frame: PlaneFrame) => void): void {
    this.senders.set(hostId, send)
  }

  /** A host has no channel any more. */
  remove(hostId: string): void {
    this.senders.delete(hostId)
    this.unheard.delete(hostId)
  }

  /** Asks the agents of workers to send each of their pings. `hostOf`: the host of a worker. */
  recall(workerIds: Iterable<string>, hostOf: (workerId: string) => string | null): void {
    const byHost = Map.groupBy(workerIds, hostOf)
    for (const [hostId, ids] of byHost) {
      const send = hostId === null ? undefined : this.senders.get(hostId)
      for (let at = 0; send && at < ids.length; at += MAX_WORKERS) send({ type: 'recall', workers: ids.slice(at, at + MAX_WORKERS) })
    }
  }
}
