import { spawn } from 'node:child_process'
import { hasCode } from '../../node/fail.ts'
import { EXIT } from '../core/exit-codes.ts'
import { CliError } from '../core/failure.ts'
import type { Session } from '../session/session.ts'

/** Builds the image of a directory and tags it with its content hash. Undefined if the build fails; stderr then has the reason. */
export async function buildImage(session: Session, directory: string, name: string): Promise<string | undefined> {
  const built = await docker(session, ['build', '-q', directory])
  if (built.code !== 0) {
    session.out.talk(`${built.stderr.trimEnd()}\nthe build failed; the next change starts a new build`)
    return undefined
  }
  const id = built.stdout.trim()
  const tag = `podplane-dev/${name.toLowerCase().replaceAll(/[^a-z0-9._-]/g, '-')}:${id.replace('sha256:', '').slice(0, 12)}`
  const tagged = await docker(session, ['tag', id, tag])
  if (tagged.code !== 0) throw new CliError(EXIT.BAD_OUTCOME, 'no_image', `docker tag: ${tagged.stderr.trim()}`)
  return tag
}

async function docker({ io, signal }: Session, args: readonly string[]): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const child = spawn('docker', args, { env: io.env, signal, stdio: ['ignore', 'pipe', 'pipe'] })
  const heard = { stdout: '', stderr: '' }
  child.stdout.on('data', (part: Buffer) => (heard.stdout += part.toString()))
  child.stderr.on('data', (part: Buffer) => (heard.stderr += part.toString()))
  return await new Promise((resolve, reject) => {
    child.once('error', (error) => reject(hasCode(error, 'ENOENT') ? noDocker() : error))
    child.once('close', (code) => resolve({ code, ...heard }))
  })
}

function noDocker(): CliError {
  return new CliError(EXIT.USAGE, 'no_docker', 'there is no docker on this machine', {
    hint: 'dev builds an image here and runs it in the local plane; podplane deploy takes one from a registry',
  })
}
