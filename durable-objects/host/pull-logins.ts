import type { Workload } from '../../src/host-protocol/messages.ts'
import type { Vault } from '../../src/platform/seal.ts'
import type { HostWorkload } from './workload-store.ts'

/** Seal of logins in rows that are not bound to a host. */
const PREVIOUS_INFO = 'pull logins of hosts'

/** Credentials for pulling images: sealed in this object's rows, open only in the desired state that the agent receives. */
export class PullLogins {
  private readonly vault: Vault
  private readonly objectId: string

  constructor(vault: Vault, objectId: string) {
    this.vault = vault
    this.objectId = objectId
  }

  /** Splits a workload into the workload without its credential and the credential, sealed for this workload. */
  take({ registryAuth, ...workload }: Workload): { workload: Workload; sealedLogin: string | null } {
    if (!registryAuth) return { workload, sealedLogin: null }
    return { workload, sealedLogin: this.vault.seal(this.placeOf(workload.id), JSON.stringify(registryAuth)) }
  }

  /** The workload as its agent needs it. A credential that cannot be opened is left out. */
  give({ workload, sealedLogin }: HostWorkload): Workload {
    const previous = { info: PREVIOUS_INFO, boundTo: workload.id }
    const text = sealedLogin === null ? null : this.vault.open(this.placeOf(workload.id), sealedLogin, previous)
    return text === null ? workload : { ...workload, registryAuth: JSON.parse(text) }
  }

  /** Seals a stored login under the current secret; null when there is none that can be opened. */
  reseal(row: HostWorkload): string | null {
    return this.take(this.give(row)).sealedLogin
  }

  private placeOf(workloadId: string): readonly [string, ...string[]] {
    return ['pull logins', this.objectId, workloadId]
  }
}
