import { createHmac } from 'node:crypto'
import { fromBase64, toBase64 } from './encoding.ts'

const PREFIX = 'whsec_'
const SECRET_BYTES = 32

/** A new signing secret in the form of Standard Webhooks: `whsec_<base64>`. */
export function newSigningSecret(): string {
  return PREFIX + toBase64(crypto.getRandomValues(new Uint8Array(SECRET_BYTES)))
}

/**
 * Returns the `webhook-signature` header (HOOK-8): for each secret `v1,<base64>` of HMAC-SHA256 over `<id>.<timestamp>.<body>`, separated
 * by spaces. The body is read in chunks, because it may be too large for memory; Web Crypto has no incremental HMAC.
 */
export function signWebhook(secrets: readonly string[], id: string, timestampSeconds: number, body: Iterable<Uint8Array>): string {
  const macs = secrets.map((secret) => createHmac('sha256', fromBase64(secret.slice(PREFIX.length))))
  for (const mac of macs) mac.update(`${id}.${timestampSeconds}.`)
  for (const piece of body) for (const mac of macs) mac.update(piece)
  return macs.map((mac) => `v1,${mac.digest('base64')}`).join(' ')
}
