import { buffer } from 'node:stream/consumers'
import type { WorkloadFile } from '../../../host-protocol/overlays.ts'
import type { DockerEngine } from '../../engine/engine.ts'
import { type Entry, tarOf } from '../../pulls/layers/archive.ts'

const USERS = '/etc/passwd'
const USERS_MAX_BYTES = 2 ** 20
const ROOT = { uid: 0, gid: 0 }

/** Writes the platform's files into a container before its start (HOST-146). */
export async function writePlatformFiles(
  engine: Pick<DockerEngine, 'putFiles' | 'readFile'>,
  name: string,
  files: readonly WorkloadFile[],
): Promise<void> {
  if (files.length === 0) return
  const hasOwners = files.some(({ owner }) => owner !== undefined)
  const users = parseUsers(hasOwners ? ((await engine.readFile(name, USERS, USERS_MAX_BYTES)) ?? '') : '')
  const entries = files.map(({ path, content, mode, owner }): Entry => {
    return { name: path.replace(/^\/+/, ''), content: Buffer.from(content, 'base64'), mode, ...(users.get(owner ?? '') ?? ROOT) }
  })
  await engine.putFiles(name, (await buffer(tarOf(entries))).toString('base64'))
}

/** Parses `/etc/passwd` into user and group ids by user name. */
export function parseUsers(text: string): Map<string, { uid: number; gid: number }> {
  const lines = text.split('\n').map((line) => line.split(':'))
  const users = lines.flatMap(([name = '', , uid = '', gid = '']) => {
    return name !== '' && /^\d+$/.test(uid) && /^\d+$/.test(gid) ? [[name, { uid: Number(uid), gid: Number(gid) }] as const] : []
  })
  return new Map(users)
}
