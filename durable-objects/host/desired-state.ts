import type { PlaneMessage, Workload } from '../../src/host-protocol/messages.ts'
import { type HostLinks, sendTo } from './links.ts'
import type { PullLogins } from './pull-logins.ts'
import type { WorkloadStore } from './workload-store.ts'

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
    const { workload: bare, sealedLogin } = await this.logins.take(workload)
    storage.transactionSync(() => {
      if (isWanted()) this.store.want(bare, ownerId, sealedLogin)
    })
  }

  async sendTo(socket: WebSocket): Promise<void> {
    sendTo(socket, await this.snapshot())
  }

  async broadcast(): Promise<void> {
    this.links.broadcast(await this.snapshot())
  }

  private async snapshot(): Promise<PlaneMessage> {
    const [revision, rows] = [this.store.revision(), this.store.all()]
    const workloads = await Promise.all(rows.map((row) => this.logins.give(row)))
    return { type: 'desired', revision, workloads, silenceMaxMs: this.silenceMaxMs }
  }
}
