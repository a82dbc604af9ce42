import { toBase64Url, toHex } from './encoding.ts'

const encoder = new TextEncoder()

/** SHA-256 of a string, in lower-case hex. */
export async function sha256Hex(text: string): Promise<string> {
  return toHex(new Uint8Array(await crypto.subtle.digest('SHA-256', encoder.encode(text))))
}

/** SHA-256 of a string, in base64url without padding. */
export async function sha256Base64Url(text: string): Promise<string> {
  return toBase64Url(new Uint8Array(await crypto.subtle.digest('SHA-256', encoder.encode(text))))
}

/** Compares two secrets in constant time. Both are hashed first, so a difference in length does not show in the time either. */
export async function sameSecret(a: string, b: string): Promise<boolean> {
  const [left, right] = await Promise.all([sha256Hex(a), sha256Hex(b)])
  return equalInConstantTime(left, right)
}

/**
 * HMAC-SHA-256 of a string, in base64url without padding. Use it for values that are derived from a secret of the plane and need not be
 * stored.
 */
export async function keyedDigest(secret: string, text: string): Promise<string> {
  const key = await crypto.subtle.importKey('raw', encoder.encode(secret), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
  return toBase64Url(new Uint8Array(await crypto.subtle.sign('HMAC', key, encoder.encode(text))))
}

/** Returns the stored form of an API key's secret: SHA-256 over pepper and secret, in hex. A stolen table is useless without the pepper. */
export function hashKeySecret(pepper: string, secret: string): Promise<string> {
  return sha256Hex(`${pepper}:${secret}`)
}

/** Compares two strings of public length in a time that does not depend on where they differ. */
export function equalInConstantTime(a: string, b: string): boolean {
  let difference = a.length ^ b.length
  for (let i = 0; i < b.length; i++) difference |= (a.charCodeAt(i) || 0) ^ b.charCodeAt(i)
  return difference === 0
}
