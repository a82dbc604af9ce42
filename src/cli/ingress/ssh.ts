import { spawn } from 'node:child_process'
import { hasCode } from '../../node/fail.ts'
import { EXIT } from '../core/exit-codes.ts'
import { CliError } from '../core/failure.ts'
import type { Session } from '../session/session.ts'
import { execInPod } from './exec.ts'

/** Arguments of ssh for an address of the API. */
export function sshArguments(ssh: { host: string; port: number; username: string }): string[] {
  return ['-p', String(ssh.port), `${ssh.username}@${ssh.host}`]
}

/** Runs the system's ssh client into a pod; if there is none, or the plane offers no SSH address, runs a shell over the plane (CMD-33). */
export async function sshIntoPod(session: Session, podId: string, command: readonly string[]): Promise<number> {
  const pod = await session.api.getPod({ path: { id: podId } })
  const way = pod.ssh.direct ?? pod.ssh.proxy
  if (way === null) {
    session.out.talk('the plane has no SSH proxy: opening a shell through the plane')
    return await execInPod(session, podId, command, {})
  }
  try {
    return await runSsh([...sshArguments(way), ...command])
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error
    session.out.talk('there is no ssh on this machine: opening a shell through the plane')
    return await execInPod(session, podId, command, {})
  }
}

async function runSsh(args: readonly string[]): Promise<number> {
  const child = spawn('ssh', args, { stdio: 'inherit' })
  return await new Promise<number>((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code, signal) => {
      if (code !== null) resolve(code)
      else reject(new CliError(EXIT.BAD_OUTCOME, 'ssh_killed', `ssh was ended by ${signal}`))
    })
  })
}
