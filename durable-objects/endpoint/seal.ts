import { deriveSealKey, openText, sealText } from '../../src/platform/seal.ts'

/**
 * Encrypts what a client entrusts to its worker (`s3Config`) under a key derived from the plane's secret for one endpoint.
 * What lies in the object's database is useless without that secret.
 */
export class Seal {
  private readonly key: (endpointId: string) => Promise<CryptoKey>

  constructor(secret: string) {
    let known: Promise<CryptoKey> | null = null
    this.key = (endpointId) => {
      known ??= deriveSealKey(secret, `s3Config\n${endpointId}`)
      return known
    }
  }

  /** Base64 of a fresh random IV and the cipher text. */
  async close(endpointId: string, text: string): Promise<string> {
    return sealText(await this.key(endpointId), text)
  }

  /** The text again, or null when it was sealed under another secret or has been tampered with. */
  async open(endpointId: string, sealed: string): Promise<string | null> {
    return openText(await this.key(endpointId), sealed)
  }
}
