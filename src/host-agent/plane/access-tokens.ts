import { TokenResponse } from '../../host-protocol/messages.ts'
import type { PlaneClock } from './clock-offset.ts'
import type { HostIdentity } from './enrolment.ts'
import type { HostKey } from './host-key.ts'
import { planeUrl, postToPlane } from './http.ts'

/** The plane does not know this host, or not this key or epoch, any more. */
export class IdentityRefused extends Error {
  override readonly name = 'IdentityRefused'
}

/** Renewed in the last third of its life, so that a plane that is away for a moment does not cost us the link. */
const RENEW_AT = 2 / 3

export interface AccessTokensOptions {
  planeUrl: string
  key: HostKey
  identity: HostIdentity
  clock: PlaneClock
}

/** Keeps one access token fresh; callers that ask at the same time share a renewal. */
export class AccessTokens {
  private readonly options: AccessTokensOptions
  private token: { value: string; renewAt: number; expiresAt: number } | undefined
  private renewal: Promise<string> | undefined

  constructor(options: AccessTokensOptions) {
    this.options = options
  }

  /** Takes over a token with `expiresInSeconds` to live. Lifetimes are measured by the monotonic clock. */
  accept({ accessToken, expiresInSeconds }: TokenResponse): string {
    const now = performance.now()
    const lifeMs = expiresInSeconds * 1000
    this.token = { value: accessToken, renewAt: now + lifeMs * RENEW_AT, expiresAt: now + lifeMs }
    return accessToken
  }

  /** For a 401: the token is not what the plane wants, whatever its age. */
  invalidate(value: string): void {
    if (this.token?.value === value) this.token = undefined
  }

  async get(): Promise<string> {
    const now = performance.now()
    if (this.token !== undefined && now < this.token.renewAt) return this.token.value
    try {
      this.renewal ??= this.renew().finally(() => {
        this.renewal = undefined
      })
      return await this.renewal
    } catch (error) {
      // Still good for its last third; only a refusal is final.
      if (this.token !== undefined && now < this.token.expiresAt && !(error instanceof IdentityRefused)) return this.token.value
      throw error
    }
  }

  private async renew(): Promise<string> {
    let answer = await this.request()
    // Not yet a verdict about this host: a wrong clock, or an assertion that something on the way has sent twice.
    if (answer.status === 401 || (answer.status >= 400 && answer.clockCorrected)) answer = await this.request()
    if (answer.status === 401 || answer.status === 403) throw new IdentityRefused(answer.detail)
    // Anything else (a proxy's 404, say) is no verdict about this host.
    if (answer.status >= 300) throw new Error(`the plane answered ${answer.status}: ${answer.detail}`)
    return this.accept(TokenResponse.parse(answer.body))
  }

  private async request() {
    const { planeUrl: base, key, identity, clock } = this.options
    const assertion = await key.signAssertion(identity.hostId, identity.epoch, clock.now())
    return await postToPlane(planeUrl(base, '/host/v1/token'), { assertion }, clock)
  }
}
