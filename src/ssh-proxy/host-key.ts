import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeDirDurably, writeDurablySync } from '../node/durable-file.ts'
import { hasCode, OperatorError } from '../node/fail.ts'
import { utils } from './ssh2.ts'

const FILE = 'ssh_host_ed25519_key'

/** The key by which clients know the proxy: made once, and kept, or every client would warn of somebody in the middle (NET-23). */
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
  // One in some hundred that the library makes it cannot read itself.
  for (;;) {
    const { private: key } = utils.generateKeyPairSync('ed25519', { comment: 'podplane-ssh-proxy' })
    if (utils.parseKey(key) instanceof Error) continue
    writeDurablySync(path, key)
    return key
  }
}
