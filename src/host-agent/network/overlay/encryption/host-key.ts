import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { writeDurablySync } from '../../../../node/durable-file.ts'
import { hasCode, OperatorError } from '../../../../node/fail.ts'

/** Key pair with which this host encrypts (HOST-160). */
export interface HostKey {
  /** File with the private key, in the format of `wg`. */
  privatePath: string
  /** Base64, as other hosts receive it. */
  publicKey: string
}

/** PKCS #8 prefix of the 32 bytes of a private X25519 key. */
const PKCS8_HEAD = Buffer.from('302e020100300506032b656e04220420', 'hex')
const KEY_BYTES = 32

/**
 * Loads the key pair, or creates it once; the private key never leaves the machine. Throws an `OperatorError` for a damaged file, which is
 * not replaced because other hosts know its public key.
 */
export function loadHostKey(stateDir: string): HostKey {
  const privatePath = join(stateDir, 'wireguard.key')
  const known = read(privatePath)
  if (known !== undefined) return { privatePath, publicKey: publicOf(known) }
  const { privateKey } = generateKeyPairSync('x25519')
  writeDurablySync(privatePath, `${jwkPart(privateKey, 'd')}\n`)
  return { privatePath, publicKey: publicOf(privateKey) }
}

function read(path: string): KeyObject | undefined {
  let bytes: Buffer
  try {
    bytes = Buffer.from(readFileSync(path, 'utf8').trim(), 'base64')
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  }
  if (bytes.length !== KEY_BYTES)
    throw new OperatorError(
      `${path} is damaged; encrypted traffic between hosts stops here, everything else continues. Remove it, and this host creates a new key and sends it to the others`,
    )
  return createPrivateKey({ key: Buffer.concat([PKCS8_HEAD, bytes]), format: 'der', type: 'pkcs8' })
}

function publicOf(key: KeyObject): string {
  return jwkPart(createPublicKey(key), 'x')
}

/** Base64 with padding, as `wg` requires. */
function jwkPart(key: KeyObject, part: 'd' | 'x'): string {
  return Buffer.from(key.export({ format: 'jwk' })[part] ?? '', 'base64url').toString('base64')
}
