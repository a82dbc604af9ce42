import { TokenResponse } from '../../host-protocol/enrolment.ts'
import type { PlaneClock } from './clock-offset.ts'
import type { HostIdentity } from './enrolment.ts'
import type { HostKey } from './host-key.ts'
import { planeUrl, postToPlane } from './http.ts'

/** The plane refuses this host's id, key or epoch. Retrying does not help; the host must join again. */
export class IdentityRefused extends Error {
  override readonly name = 'IdentityRefused'
}

/**
 * Share of a token's lifetime after which it is renewed. The rest is a margin, so that a short outage of the plane does not end the link.
 */
const RENEW_AT = 2 / 3

export interface AccessTokensOptions {
  planeUrl: string
  key: HostKey
  identity: HostIdentity
  clock: PlaneClock
}

/** Caches one access token and renews it in time; concurrent callers share one renewal. */
export class AccessTokens {
  private readonly options: AccessTokensOptions
  private token: { value: string; renewAt: number; expiresAt: number } | undefined
  private renewal: Promise<string> | undefined

  constructor(options: AccessTokensOptions) {
    this.options = options
  }

  /** Stores a token that is valid for `expiresInSeconds` more and returns it. Lifetimes are measured by the monotonic clock. */
  accept({ accessToken, expiresInSeconds }: TokenResponse): string {
    const now = performance.now()
    const lifeMs = expiresInSeconds * 1000
    this.token = { value: accessToken, renewAt: now + lifeMs * RENEW_AT, expiresAt: now + lifeMs }
    return accessToken
  }

  /** Discards a token that the plane has answered with 401, even if it has not expired. */
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
      // The token is still valid for the last third of its lifetime; only a refusal of the identity is final.
      if (this.token !== undefined && now < this.token.expiresAt && !(error instanceof IdentityRefused)) return this.token.value
      throw error
    }
  }

  private async renew(): Promise<string> {
    let answer = await this.request()
    // Not yet a refusal of this host: the assertion may have had a wrong time, or may have been sent twice by a proxy. Try once more.
    if (answer.status === 401 || (answer.status >= 400 && answer.clockCorrected)) answer = await this.request()
    if (answer.status === 401 || answer.status === 403) throw new IdentityRefused(answer.detail)
    // Any other status (such as a proxy's 404) is no refusal of this host.
    if (answer.status >= 300) throw new Error(`the plane answered ${answer.status}: ${answer.detail}`)
    return this.accept(TokenResponse.parse(answer.body))
  }

  private async request() {
    const { planeUrl: base, key, identity, clock } = this.options
    const assertion = await key.signAssertion(identity.hostId, identity.epoch, clock.now())
    return await postToPlane(planeUrl(base, '/host/v1/token'), { assertion }, clock)
  }
}
