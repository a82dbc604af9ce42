import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { hasCode, OperatorError } from '../../node/fail.ts'

/** The name under which systemd hands the credentials of the bucket over. */
const CREDENTIAL = 'global-volumes'
const NAMES = ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN']
const LINE = /^([A-Z_]+)=(\S+)$/

/**
 * GLV-9: credentials of the bucket as systemd has opened them for this service (`LoadCredentialEncrypted=`), sealed on the disk with a key of this
 * machine. They are read when a program needs them, and are given to it alone. Empty: there are none, and the agent's environment has to do.
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

// Whatever is wrong with it, nothing of a line is repeated.
function readLine(line: string, index: number): [string, string] {
  const [, name = '', value = ''] = LINE.exec(line.trim()) ?? []
  if (NAMES.includes(name)) return [name, value]
  throw new OperatorError(
    `line ${index + 1} of the credential '${CREDENTIAL}' is none; write ${NAMES.slice(0, 2).join('=… and ')}=…, a line each, and ${NAMES[2]}=… where there is one`,
  )
}
