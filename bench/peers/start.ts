import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findOnPath } from '../find-on-path.ts'
import { hasPackage } from '../packages.ts'
import { startChild } from './child.ts'
import { type DatabaseServer, startPostgres, startRedis } from './servers.ts'

export type PeerName = 'pg-boss' | 'sqlite' | 'bullmq'

/** Another project's queue, served over HTTP. */
export interface Peer extends AsyncDisposable {
  name: PeerName
  url: string
}

/** Requirements of a peer: packages, and a database server on the path. */
interface Needs {
  packages: string[]
  program?: string
  startServer?(program: string, directory: string): Promise<DatabaseServer>
}

const NEEDS: Record<PeerName, Needs> = {
  'pg-boss': { packages: ['fastify', 'pg-boss'], program: 'postgres', startServer: startPostgres },
  sqlite: { packages: ['fastify'] },
  bullmq: { packages: ['fastify', 'bullmq', 'ioredis'], program: 'redis-server', startServer: startRedis },
}
export const PEER_NAMES = Object.keys(NEEDS) as PeerName[]

/** Describes the missing requirements of a peer on this machine; null if there are none. */
export function describeMissing(name: PeerName): string | null {
  const { packages, program } = NEEDS[name]
  const missing = packages.filter((needed) => !hasPackage(needed))
  if (missing.length > 0) return `npm install --no-save ${missing.join(' ')}, or PEERS_DIR=<where they are>`
  return program !== undefined && findOnPath(program) === undefined ? `${program} on the path` : null
}

/** Starts a peer with fresh storage. All its requirements must be met. */
export async function startPeer(name: PeerName): Promise<Peer> {
  await using stack = new AsyncDisposableStack()
  const directory = mkdtempSync(join(tmpdir(), `podplane-${name}-`))
  stack.defer(() => rmSync(directory, { recursive: true, force: true }))
  const { program = '', startServer } = NEEDS[name]
  const server = await startServer?.(findOnPath(program) ?? program, directory)
  if (server !== undefined) stack.use(server.process)
  const address = server?.address ?? join(directory, 'jobs.sqlite')
  const service = stack.use(await startChild(process.execPath, [join(import.meta.dirname, 'serve.ts'), name, address], /http:\S+/))
  const owned = stack.move()
  return { name, url: service.ready[0], [Symbol.asyncDispose]: () => owned.disposeAsync() }
}
