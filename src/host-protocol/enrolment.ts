import { z } from 'zod'
import { hostText } from './host-text.ts'
import { Inventory } from './messages.ts'

/** Audience of the assertion that an agent signs with its own key to get an access token. */
export const ASSERTION_AUDIENCE = 'podplane-host'
/** Audience of the access token that the plane signs. */
export const ACCESS_TOKEN_AUDIENCE = 'podplane-host-api'

export const EnrolRequest = z.object({
  joinToken: z.string().min(1).max(256),
  name: hostText(128, 1),
  /** Ed25519 public key as a JWK: `{kty:"OKP", crv:"Ed25519", x}`. */
  publicKey: z.object({ kty: z.literal('OKP'), crv: z.literal('Ed25519'), x: z.string().min(1).max(128) }),
  /** JWT signed by that key: `{aud: ASSERTION_AUDIENCE, sub: <join token sha256 hex>, iat, exp, jti}`; proves possession. */
  proof: z.string().min(1).max(4096),
  inventory: Inventory,
})
export type EnrolRequest = z.infer<typeof EnrolRequest>

export const EnrolResponse = z.object({
  hostId: z.string(),
  epoch: z.number().int(),
  dataCenterId: z.string(),
  accessToken: z.string(),
  /** Seconds until the access token expires. */
  expiresInSeconds: z.number().int(),
})
export type EnrolResponse = z.infer<typeof EnrolResponse>

export const TokenRequest = z.object({
  /** JWT signed by the host's key: `{aud: ASSERTION_AUDIENCE, iss: hostId, sub: hostId, epoch, iat, exp (≤ 60 s), jti}`. */
  assertion: z.string().min(1).max(4096),
})
export const TokenResponse = z.object({ accessToken: z.string(), expiresInSeconds: z.number().int() })
export type TokenResponse = z.infer<typeof TokenResponse>
