import type { Workload } from '../../src/host-protocol/messages.ts'
import { deriveSealKey, openText, sealText } from '../../src/platform/seal.ts'
import type { HostWorkload } from './workload-store.ts'

/** Credentials for pulling images: sealed in this object's rows, open only in the snapshot that goes to the agent. */
export class PullLogins {
  private readonly secret: string
  private key: Promise<CryptoKey> | undefined

  constructor(secret: string) {
    this.secret = secret
  }

  /** The workload without its credential, and that sealed for this workload. */
  async take({ registryAuth, ...workload }: Workload): Promise<{ workload: Workload; sealedLogin: string | null }> {
    if (!registryAuth) return { workload, sealedLogin: null }
    return { workload, sealedLogin: await sealText(await this.sealKey(), JSON.stringify(registryAuth), workload.id) }
  }

  /** The workload as its agent needs it. One that cannot be opened any more is pulled without. */
  async give({ workload, sealedLogin }: HostWorkload): Promise<Workload> {
    const text = sealedLogin === null ? null : await openText(await this.sealKey(), sealedLogin, workload.id)
    return text === null ? workload : { ...workload, registryAuth: JSON.parse(text) }
  }

  private sealKey(): Promise<CryptoKey> {
    this.key ??= deriveSealKey(this.secret, 'pull logins of hosts')
    return this.key
  }
}
