import { fromBase64, toBase64 } from '../../src/services/encoding.ts'

const IV_BYTES = 12

/**
 * Encrypts what a client entrusts to its worker (`s3Config`): AES-256-GCM under a key derived from the plane's secret for one endpoint.
 * What lies in the object's database is useless without that secret.
 */
export class Seal {
  private readonly secret: string
  private readonly key: (endpointId: string) => Promise<CryptoKey>

  constructor(secret: string) {
    this.secret = secret
    let known: Promise<CryptoKey> | null = null
    this.key = (endpointId) => {
      known ??= this.deriveKey(endpointId)
      return known
    }
  }

  /** Base64 of a fresh random IV and the cipher text. */
  async close(endpointId: string, text: string): Promise<string> {
    const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES))
    const cipher = await crypto.subtle.encrypt({ name: 'AES-GCM', iv }, await this.key(endpointId), new TextEncoder().encode(text))
    return toBase64(new Uint8Array([...iv, ...new Uint8Array(cipher)]))
  }

  /** The text again, or null when it was sealed under another secret or has been tampered with. */
  async open(endpointId: string, sealed: string): Promise<string | null> {
    try {
      const bytes = fromBase64(sealed)
      const algorithm = { name: 'AES-GCM', iv: bytes.subarray(0, IV_BYTES) }
      const text = await crypto.subtle.decrypt(algorithm, await this.key(endpointId), bytes.subarray(IV_BYTES))
      return new TextDecoder().decode(text)
    } catch {
      return null
    }
  }

  private async deriveKey(endpointId: string): Promise<CryptoKey> {
    const encode = (text: string) => new TextEncoder().encode(text)
    const base = await crypto.subtle.importKey('raw', encode(this.secret), 'HKDF', false, ['deriveKey'])
    const derivation = { name: 'HKDF', hash: 'SHA-256', salt: encode('podplane'), info: encode(`s3Config\n${endpointId}`) }
    return crypto.subtle.deriveKey(derivation, base, { name: 'AES-GCM', length: 256 }, false, ['encrypt', 'decrypt'])
  }
}
