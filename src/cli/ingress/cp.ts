import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { errorText } from '../../node/fail.ts'
import { EXIT } from '../core/exit-codes.ts'
import { CliError, usage } from '../core/failure.ts'
import { idOf } from '../session/names.ts'
import type { Session } from '../session/session.ts'
import { PodConnection } from './connection.ts'
import { exitCodeOf } from './exec.ts'

/** Side of a copy: a local path, or a path in a pod. */
export interface Side {
  pod: string | undefined
  path: string
}

/** `<pod>:<path>` is in a pod; text that starts like a path or has no colon is local. Throws a usage error if no path follows. */
export function readSide(text: string): Side {
  const match = /^([A-Za-z0-9][\w-]*):(.*)$/s.exec(text)
  if (match?.[1] === undefined) return { pod: undefined, path: text }
  if (!match[2]) throw usage(`${text}: a path has to follow the colon`)
  return { pod: match[1], path: match[2] }
}

// $1 is the target, $2 the name of the copied entry. An existing directory receives the entry; otherwise it is unpacked aside and moved to
// the target, so that the target is never incomplete.
const TAKE = `set -e
if [ -d "$1" ]; then exec tar -xf - -C "$1" --no-same-owner; fi
case "$1" in */) mkdir -p "$1"; exec tar -xf - -C "$1" --no-same-owner;; esac
d=$(dirname "$1"); mkdir -p "$d"; t=$(mktemp -d "$d/.podplane-XXXXXX"); trap 'rm -rf "$t"' EXIT
tar -xf - -C "$t" --no-same-owner; mv -f "$t/$2" "$1"`
const GIVE = `set -e
[ -e "$1" ] || { echo "$1: no such file or directory" >&2; exit 1; }
cd "$(dirname "$1")"; exec tar -cf - -- "$(basename "$1")"`

/**
 * Copies files and directories between this machine and a pod, as a tar stream over the plane (CMD-31). Throws a usage error unless exactly
 * one side is in a pod.
 */
export async function copy(session: Session, from: string, to: string): Promise<void> {
  const [source, target] = [readSide(from), readSide(to)]
  if ((source.pod === undefined) === (target.pod === undefined)) {
    throw usage(
      'exactly one of source and destination must be <pod>:<path>',
      'podplane cp ./file <pod>:/path, or podplane cp <pod>:/path ./file',
    )
  }
  const pod = await idOf(session, 'pod', target.pod ?? source.pod ?? '')
  if (target.pod !== undefined) await upload(session, resolve(session.io.cwd, source.path), pod, target.path)
  else await download(session, pod, source.path, target.path)
  session.out.talk(`copied ${from} to ${to}`)
}

async function upload(session: Session, path: string, pod: string, target: string): Promise<void> {
  if (!existsSync(path)) throw usage(`${path}: no such file or directory`)
  const connection = await PodConnection.open(session, pod, { command: ['sh', '-c', TAKE, 'sh', target, basename(path)] })
  const tar = spawn('tar', ['-cf', '-', '-C', dirname(path), '--', basename(path)], { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = exitOf(tar)
  const complaints = collect(connection)
  for await (const part of tar.stdout) await connection.write(part as Buffer)
  const code = await ended
  // A stream that broke off must not look complete, so the connection is closed instead of the input ended.
  if (code !== 0) connection.close()
  else connection.endInput()
  finish(connection, await complaints, code)
}

async function download(session: Session, pod: string, path: string, target: string): Promise<void> {
  const place = resolve(session.io.cwd, target)
  const isInto = target.endsWith('/') || (existsSync(place) && statSync(place).isDirectory())
  mkdirSync(isInto ? place : dirname(place), { recursive: true })
  const scratch = mkdtempSync(join(isInto ? place : dirname(place), '.podplane-'))
  try {
    const connection = await PodConnection.open(session, pod, { command: ['sh', '-c', GIVE, 'sh', path] })
    connection.endInput()
    const tar = spawn('tar', ['-xf', '-', '-C', scratch, '--no-same-owner'], { stdio: ['pipe', 'ignore', 'pipe'] })
    const ended = exitOf(tar)
    // The pod's errors take precedence: without its stream the local tar has nothing to read.
    let ownComplaints = ''
    tar.stderr.on('data', (part: Buffer) => {
      ownComplaints += part.toString('utf8')
    })
    tar.stdin.on('error', () => undefined)
    const complaints = await collect(connection, async (bytes) => {
      if (!tar.stdin.write(bytes)) await Promise.race([once(tar.stdin, 'drain'), ended])
    })
    tar.stdin.end()
    const code = await ended
    finish(connection, complaints || ownComplaints.trim(), code)
    const name = basename(path)
    const final = isInto ? join(place, name) : place
    if (isInto && existsSync(final)) rmSync(final, { recursive: true, force: true })
    renameSync(join(scratch, name), final)
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

/** Reads all output of the command; returns its stderr. */
async function collect(connection: PodConnection, take: (bytes: Uint8Array) => Promise<void> = async () => {}): Promise<string> {
  let complaints = ''
  for (let heard = await connection.read(); heard !== undefined; heard = await connection.read()) {
    if (heard.channel === 'stdout') await take(heard.bytes)
    else complaints += Buffer.from(heard.bytes).toString('utf8')
    connection.taken(heard.bytes.length)
  }
  return complaints.trim()
}

function finish(connection: PodConnection, complaints: string, localCode: number): void {
  const code = exitCodeOf(connection)
  connection.close()
  if (code === 0 && localCode === 0) return
  const missing = code === 127 ? 'the image of the pod has no sh or no tar' : `tar ended with ${code === 0 ? localCode : code}`
  throw new CliError(EXIT.BAD_OUTCOME, 'copy_failed', complaints || missing)
}

async function exitOf(child: ReturnType<typeof spawn>): Promise<number> {
  return await new Promise<number>((resolve, reject) => {
    child.once('error', (error) => reject(new CliError(EXIT.BAD_OUTCOME, 'no_tar', `tar cannot be started here: ${errorText(error)}`)))
    child.once('exit', (code) => resolve(code ?? 1))
  })
}
