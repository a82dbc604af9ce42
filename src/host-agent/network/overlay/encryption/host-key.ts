import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { writeDurablySync } from '../../../../node/durable-file.ts'
import { hasCode, OperatorError } from '../../../../node/fail.ts'

/** The pair of keys that this host encrypts with (HOST-160). */
export interface HostKey {
  /** A file with the private one, as `wg` reads it. */
  privatePath: string
  /** Base64, as others are told it. */
  publicKey: string
}

/** What stands before the 32 bytes of a private X25519 key in PKCS #8. */
const PKCS8_HEAD = Buffer.from('302e020100300506032b656e04220420', 'hex')
const KEY_BYTES = 32

/** Made once, here; the private one never leaves the machine. One that is damaged stays, because others know its public one. */
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
      `${path} is damaged; what is encrypted between hosts stops here, all else goes on. Remove it, and this host makes a new key and tells it to the others`,
    )
  return createPrivateKey({ key: Buffer.concat([PKCS8_HEAD, bytes]), format: 'der', type: 'pkcs8' })
}

function publicOf(key: KeyObject): string {
  return jwkPart(createPublicKey(key), 'x')
}

/** Base64 with padding, which `wg` wants. */
function jwkPart(key: KeyObject, part: 'd' | 'x'): string {
  return Buffer.from(key.export({ format: 'jwk' })[part] ?? '', 'base64url').toString('base64')
}
