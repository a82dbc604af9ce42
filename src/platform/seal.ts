import { fromBase64, toBase64 } from './encoding.ts'

const IV_BYTES = 12
const encoder = new TextEncoder()

/** A key for AES-256-GCM, derived (HKDF-SHA-256) from a secret of the plane for one use, which `info` names. */
export async function deriveSealKey(secret: string, info: string): Promise<CryptoKey> {
  const base = await crypto.subtle.importKey('raw', encoder.encode(secret), 'HKDF', false, ['deriveKey'])
  const derivation = { name: 'HKDF', hash: 'SHA-256', salt: encoder.encode('podplane'), info: encoder.encode(info) }
  return crypto.subtle.deriveKey(derivation, base, { name: 'AES-GCM', length: 256 }, false, ['encrypt', 'decrypt'])
}

/** Base64 of a fresh random IV and the cipher text. `boundTo` must be the same at opening: it ties the text to its place. */
export async function sealText(key: CryptoKey, text: string, boundTo = ''): Promise<string> {
  const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES))
  const cipher = await crypto.subtle.encrypt(algorithm(iv, boundTo), key, encoder.encode(text))
  return toBase64(new Uint8Array([...iv, ...new Uint8Array(cipher)]))
}

/** The text again, or null when it was sealed under another key or for another place, or has been tampered with. */
export async function openText(key: CryptoKey, sealed: string, boundTo = ''): Promise<string | null> {
  try {
    const bytes = fromBase64(sealed)
    const text = await crypto.subtle.decrypt(algorithm(bytes.subarray(0, IV_BYTES), boundTo), key, bytes.subarray(IV_BYTES))
    return new TextDecoder().decode(text)
  } catch {
    return null
  }
}

function algorithm(iv: Uint8Array<ArrayBuffer>, boundTo: string) {
  return { name: 'AES-GCM', iv, additionalData: encoder.encode(boundTo) }
}
