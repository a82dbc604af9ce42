import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { waitUntil } from '../../../support/time.ts'

const run = promisify(execFile)
const PACKAGE = 'moto[server,s3]==5.1.5'
const READY_MS = 60_000
const FORBIDDEN = '<?xml version="1.0"?><Error><Code>SignatureDoesNotMatch</Code><Message>secret words of the store</Message></Error>'

export interface ObjectStore {
  endpoint: string
  /** The objects in a bucket, by key. */
  keys(bucket: string): Promise<string[]>
  /** Stops its answers until it is resumed. */
  pause(): void
  resume(): void
  close(): Promise<void>
}

/** An S3 server from PyPI in a process of its own, with a bucket in it. */
export async function startObjectStore(bucket: string): Promise<ObjectStore> {
  const home = join(tmpdir(), 'podplane-e2e-object-store')
  // Written last: an interrupted installation starts over.
  const ready = join(home, 'ready')
  if (!existsSync(ready)) {
    await run('python3', ['-m', 'venv', home])
    await run(join(home, 'bin/pip'), ['install', '--quiet', '--no-compile', PACKAGE])
    writeFileSync(ready, '')
  }
  const port = await freePort()
  const endpoint = `http://127.0.0.1:${port}`
  const server = spawn(join(home, 'bin/python'), ['-m', 'moto.server', '-H', '127.0.0.1', '-p', String(port)], { stdio: 'ignore' })
  const put = () =>
    fetch(`${endpoint}/${bucket}`, { method: 'PUT' }).then(
      ({ ok }) => ok,
      () => false,
    )
  await waitUntil('the object store', put, READY_MS)
  return {
    endpoint,
    async keys(name) {
      const listed = await (await fetch(`${endpoint}/${name}?list-type=2`)).text()
      return [...listed.matchAll(/<Key>([^<]*)<\/Key>/g)].map(([, key = '']) => key)
    },
    pause: () => void server.kill('SIGSTOP'),
    resume: () => void server.kill('SIGCONT'),
    async close() {
      server.kill('SIGKILL')
      await once(server, 'exit')
    },
  }
}

/** An object store that refuses all credentials. */
export async function startClosedStore(): Promise<Pick<ObjectStore, 'endpoint' | 'close'>> {
  const server = createServer((request, response) => {
    request.resume()
    response.writeHead(403, { 'content-type': 'application/xml' }).end(FORBIDDEN)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
