import { MESSAGE_MAX_BYTES, type PlaneMessage, type Workload } from '../../src/host-protocol/messages.ts'
import { logEvent } from '../../src/platform/log.ts'
import { type HostLinks, sendTo } from './links.ts'
import type { PullLogins } from './pull-logins.ts'
import type { WorkloadStore } from './workload-store.ts'

/** Most that a host can be told; the rest of the bound is for logins and the frame. */
const MAX_BYTES = MESSAGE_MAX_BYTES - 2 ** 20
/** A host that has to be told this much is given no more; what is left is room for what it has already (HOST-69). */
const FULL_BYTES = MESSAGE_MAX_BYTES / 2

/** What the host should run, as a whole and under its revision; the agent ignores one that is older than what it has. */
export class DesiredState {
  private readonly store: WorkloadStore
  private readonly links: HostLinks
  private readonly logins: PullLogins
  private readonly silenceMaxMs: number

  /** `silenceMaxMs`: the most that a job waits for this host (HOST-36); the host must know it to be first. */
  constructor(store: WorkloadStore, links: HostLinks, logins: PullLogins, silenceMaxMs: number) {
    this.store = store
    this.links = links
    this.logins = logins
    this.silenceMaxMs = silenceMaxMs
  }

  /** Adds a workload or changes what is wanted of it. `isWanted` is asked again in the transaction that writes it. */
  async want(storage: DurableObjectStorage, workload: Workload, ownerId: string, isWanted: () => boolean = () => true): Promise<void> {
    const { workload: bare, sealedLogin } = this.logins.take(workload)
    storage.transactionSync(() => {
      if (isWanted()) this.store.want(bare, ownerId, sealedLogin)
    })
  }

  async sendTo(socket: WebSocket): Promise<void> {
    if (!this.refuseOversize()) sendTo(socket, await this.snapshot())
  }

  async broadcast(): Promise<void> {
    if (!this.refuseOversize()) this.links.broadcast(await this.snapshot())
  }

  /** Whether there is room for another workload in what the host is told (HOST-69). */
  hasRoom(): boolean {
    return this.store.wantedBytes() < FULL_BYTES
  }

  /** The host cannot be told what it is to run: its agent would drop the link over it. */
  isOversize(): boolean {
    return this.store.wantedBytes() > MAX_BYTES
  }

  // The host goes on with what it was told last.
  private refuseOversize(): boolean {
    const refused = this.isOversize()
    if (refused)
      logEvent('error', 'a host cannot be told what it is to run', { hostId: this.store.hostId(), bytes: this.store.wantedBytes() })
    return refused
  }

  private async snapshot(): Promise<PlaneMessage> {
    const [revision, rows] = [this.store.revision(), this.store.wanted()]
    const workloads = rows.map((row) => this.logins.give(row))
    return { type: 'desired', revision, workloads, silenceMaxMs: this.silenceMaxMs }
  }
}
