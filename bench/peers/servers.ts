import { execFileSync } from 'node:child_process'
import { chownSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Child, startChild } from './child.ts'

/** A running database server and its address. */
export interface DatabaseServer {
  process: Child
  address: string
}

interface Owner {
  uid: number
  gid: number
}

/** PostgreSQL with its default settings, with its files and its socket in `directory`. */
export async function startPostgres(program: string, directory: string): Promise<DatabaseServer> {
  // PostgreSQL refuses to run as root.
  const owner = process.getuid?.() === 0 ? findOwner('postgres') : undefined
  if (owner !== undefined) chownSync(directory, owner.uid, owner.gid)
  const data = join(directory, 'data')
  const initdb = join(dirname(realpathSync(program)), 'initdb')
  execFileSync(initdb, ['--pgdata', data, '--username', 'bench', '--auth', 'trust', '--encoding', 'UTF8'], {
    ...owner,
    cwd: directory,
    stdio: 'ignore',
  })
  const settings = ['-c', 'listen_addresses=', '-c', `unix_socket_directories=${directory}`]
  const process_ = await startChild(program, ['-D', data, ...settings], /ready to accept connections/, { ...owner, cwd: directory })
  return { process: process_, address: `postgres://bench@/postgres?host=${directory}` }
}

/** Redis that flushes every write, with its files and its socket in `directory`. */
export async function startRedis(program: string, directory: string): Promise<DatabaseServer> {
  const address = join(directory, 'redis.sock')
  const durable = ['--appendonly', 'yes', '--appendfsync', 'always', '--save', '']
  const args = ['--port', '0', '--unixsocket', address, '--dir', directory, ...durable]
  return { process: await startChild(program, args, /[Rr]eady to accept connections/), address }
}

function findOwner(user: string): Owner {
  const id = (flag: string) => Number(execFileSync('id', [flag, user], { encoding: 'utf8' }))
  return { uid: id('-u'), gid: id('-g') }
}
