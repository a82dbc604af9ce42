import type { Workload } from '../../src/host-protocol/messages.ts'
import type { Vault } from '../../src/platform/seal.ts'
import type { HostWorkload } from './workload-store.ts'

/** How logins were sealed when rows were bound to no host. */
const FORMER_INFO = 'pull logins of hosts'

/** Credentials for pulling images: sealed in this object's rows, open only in the snapshot that goes to the agent. */
export class PullLogins {
  private readonly vault: Vault
  private readonly objectId: string

  constructor(vault: Vault, objectId: string) {
    this.vault = vault
    this.objectId = objectId
  }

  /** The workload without its credential, and that sealed for this workload. */
  take({ registryAuth, ...workload }: Workload): { workload: Workload; sealedLogin: string | null } {
    if (!registryAuth) return { workload, sealedLogin: null }
    return { workload, sealedLogin: this.vault.seal(this.placeOf(workload.id), JSON.stringify(registryAuth)) }
  }

  /** The workload as its agent needs it. One that cannot be opened any more is pulled without. */
  give({ workload, sealedLogin }: HostWorkload): Workload {
    const former = { info: FORMER_INFO, boundTo: workload.id }
    const text = sealedLogin === null ? null : this.vault.open(this.placeOf(workload.id), sealedLogin, former)
    return text === null ? workload : { ...workload, registryAuth: JSON.parse(text) }
  }

  /** A kept login under the present secret; null for none that can be opened. */
  reseal(row: HostWorkload): string | null {
    return this.take(this.give(row)).sealedLogin
  }

  private placeOf(workloadId: string): readonly [string, ...string[]] {
    return ['pull logins', this.objectId, workloadId]
  }
}
