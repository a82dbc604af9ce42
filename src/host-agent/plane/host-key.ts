import { createHash, randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { exportJWK, generateKeyPair, importJWK, SignJWT } from 'jose'
import { z } from 'zod'
import { ASSERTION_AUDIENCE } from '../../host-protocol/enrolment.ts'
import { readIrreplaceableFile, writeJsonFile } from '../../node/json-file.ts'

const PrivateJwk = z.object({ kty: z.literal('OKP'), crv: z.literal('Ed25519'), x: z.string(), d: z.string() })
type PrivateJwk = z.infer<typeof PrivateJwk>
const ASSERTION_SECONDS = 60
/** The plane's clock is known only to the second, and the plane refuses an `iat` in its future. */
const BACKDATE_SECONDS = 2

const ADVICE = `it holds the key that identifies this host to the plane. The containers keep running without an agent; after five minutes the \
plane sets the pods to ERROR and runs the jobs of the workers elsewhere. Restore the file to keep the pods. Without a copy: remove the file and \
start the agent with a new --token (podplane admin join-tokens create). The machine then joins as another host, and the agent removes the \
containers of the previous host with their disks; persistent volumes stay on this machine`

/** The Ed25519 key that identifies this host to the plane. The private half never leaves the state directory. */
export class HostKey {
  private readonly jwk: PrivateJwk

  private constructor(jwk: PrivateJwk) {
    this.jwk = jwk
  }

  /**
   * Reads the key of this state directory or creates one (file mode 0600), which is on disk before it is used (DUR-4). Throws an
   * `OperatorError` for a damaged file (DUR-5).
   */
  static async load(stateDir: string): Promise<HostKey> {
    const path = join(stateDir, 'host-key.json')
    const stored = readIrreplaceableFile(path, PrivateJwk, ADVICE)
    if (stored !== undefined) return new HostKey(stored)
    const { privateKey } = await generateKeyPair('EdDSA', { crv: 'Ed25519', extractable: true })
    const jwk = PrivateJwk.parse(await exportJWK(privateKey))
    writeJsonFile(path, jwk)
    return new HostKey(jwk)
  }

  get publicJwk(): { kty: 'OKP'; crv: 'Ed25519'; x: string } {
    return { kty: 'OKP', crv: 'Ed25519', x: this.jwk.x }
  }

  /** Signs a proof of possession for enrolment; it is bound to the join token by the token's hash. */
  signEnrolmentProof(joinToken: string, nowMs: number): Promise<string> {
    return this.sign({ sub: createHash('sha256').update(joinToken).digest('hex') }, nowMs)
  }

  /** Signs the assertion that the plane exchanges for an access token. */
  signAssertion(hostId: string, epoch: number, nowMs: number): Promise<string> {
    return this.sign({ iss: hostId, sub: hostId, epoch }, nowMs)
  }

  private async sign(claims: { sub: string; iss?: string; epoch?: number }, nowMs: number): Promise<string> {
    const issuedAt = Math.floor(nowMs / 1000) - BACKDATE_SECONDS
    return await new SignJWT({ ...claims })
      .setProtectedHeader({ alg: 'EdDSA', typ: 'JWT' })
      .setAudience(ASSERTION_AUDIENCE)
      .setIssuedAt(issuedAt)
      .setExpirationTime(issuedAt + ASSERTION_SECONDS)
      .setJti(randomUUID())
      .sign(await importJWK(this.jwk, 'EdDSA'))
  }
}
