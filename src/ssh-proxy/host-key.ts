import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeDirDurably, writeDurablySync } from '../node/durable-file.ts'
import { hasCode, OperatorError } from '../node/fail.ts'
import { utils } from './ssh2.ts'

const FILE = 'ssh_host_ed25519_key'

/**
 * Returns the host key of the proxy. It is created once and then stored: with a new key, every client would warn of a man in the middle
 * (NET-23). Throws an `OperatorError` for a damaged file.
 */
export function loadHostKey(stateDir: string): string {
  makeDirDurably(stateDir)
  const path = join(stateDir, FILE)
  const kept = read(path) ?? make(path)
  if (utils.parseKey(kept) instanceof Error) {
    throw new OperatorError(`${path} is no private key; restore it, or remove it: clients then have to trust a new one`)
  }
  return kept
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  }
}

function make(path: string): string {
  // The library cannot parse about one in a hundred of the keys that it generates.
  for (;;) {
    const { private: key } = utils.generateKeyPairSync('ed25519', { comment: 'podplane-ssh-proxy' })
    if (utils.parseKey(key) instanceof Error) continue
    writeDurablySync(path, key)
    return key
  }
}
