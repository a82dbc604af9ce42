import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { hasCode, OperatorError } from '../../node/fail.ts'

/** The name of the systemd credential for the bucket. */
const CREDENTIAL = 'global-volumes'
const NAMES = ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN']
const LINE = /^([A-Z_]+)=(\S+)$/

/**
 * Reads the bucket's credentials as systemd has decrypted them for this service (`LoadCredentialEncrypted=`; encrypted on disk with a key
 * of this machine) (GLV-9). They are read when a program needs them and passed to it alone. Empty: there are none, and the agent's
 * environment is used. Throws an `OperatorError` for a malformed line.
 */
export function readBucketLogin(directory = process.env.CREDENTIALS_DIRECTORY): Record<string, string> {
  if (directory === undefined) return {}
  const text = readCredential(directory)
  const lines = text.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('#'))
  return Object.fromEntries(lines.map(readLine))
}

function readCredential(directory: string): string {
  try {
    return readFileSync(join(directory, CREDENTIAL), 'utf8')
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return ''
    throw error
  }
}

// The error never repeats a part of a line, which may be secret.
function readLine(line: string, index: number): [string, string] {
  const [, name = '', value = ''] = LINE.exec(line.trim()) ?? []
  if (NAMES.includes(name)) return [name, value]
  throw new OperatorError(
    `line ${index + 1} of the credential '${CREDENTIAL}' is not valid; write ${NAMES.slice(0, 2).join('=… and ')}=…, one per line, and ${NAMES[2]}=… if there is one`,
  )
}
