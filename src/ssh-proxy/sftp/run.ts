import type { SshTarget } from '../../host-protocol/ssh-proxy.ts'
import type { PodConnection } from '../connection.ts'
import { ConnectionRefused } from '../plane.ts'
import { utils } from '../ssh2.ts'
import { commandOf, type ScriptName } from './scripts.ts'

/** Opens a connection to the pod of the session. */
export type OpenConnection = (target: SshTarget) => Promise<PodConnection>

const { NO_SUCH_FILE, PERMISSION_DENIED, FAILURE } = utils.sftp.STATUS_CODE
const MAX_OUTPUT_BYTES = 16 * 2 ** 20
const MAX_ERROR_BYTES = 4_096

/** The reason why an SFTP operation failed, as sent to the client. */
export class SftpError extends Error {
  override readonly name = 'SftpError'
  readonly code: number

  constructor(message: string, code: number = FAILURE) {
    super(message)
    this.code = code
  }
}

/** Starts a script in the pod. Throws `SftpError`. */
export async function start(open: OpenConnection, name: ScriptName, args: readonly string[]): Promise<PodConnection> {
  try {
    return await open({ kind: 'exec', command: commandOf(name, args), terminal: null })
  } catch (error) {
    throw new SftpError(error instanceof ConnectionRefused ? error.message : 'the pod could not be entered')
  }
}

/** Runs a script in the pod and returns its output. Throws `SftpError` with the script's error output. */
export async function run(open: OpenConnection, name: ScriptName, args: readonly string[] = []): Promise<string> {
  const connection = await start(open, name, args)
  connection.endInput()
  const parts: Uint8Array[] = []
  const errors: Uint8Array[] = []
  let left = MAX_OUTPUT_BYTES
  for (let next = await connection.read(); next !== null; next = await connection.read()) {
    left -= next.bytes.length
    if (left < 0) break
    if (next.channel === 'stdout') parts.push(next.bytes)
    else errors.push(next.bytes)
  }
  connection.close()
  if (left < 0) throw new SftpError('the answer is too long')
  if (connection.status.exitCode !== 0) throw errorOf(Buffer.concat(errors).toString('utf8') || (connection.status.message ?? ''))
  return Buffer.concat(parts).toString('utf8')
}

/** Returns the SFTP error for the error output of a program in the pod. */
export function errorOf(text: string): SftpError {
  const message = text.slice(0, MAX_ERROR_BYTES).trim() || 'the pod could not do it'
  if (/no such file|nonexistent|not a directory/i.test(message)) return new SftpError(message, NO_SUCH_FILE)
  if (/permission denied|not permitted|read-only/i.test(message)) return new SftpError(message, PERMISSION_DENIED)
  return new SftpError(message)
}
