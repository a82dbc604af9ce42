import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createApiClient } from '../../../src/client/client.ts'
import { createJoinToken } from '../../../src/local/demo.ts'
import { PROJECT_ROOT } from '../../../src/local/paths.ts'
import { waitUntil } from '../../support/time.ts'
import { PowerDisk } from '../support/machines/power.ts'
import { killPlane } from '../support/plane/kill-plane.ts'
import { callPlane, startAgent, startPlane, type TestPlane } from '../support/plane/plane.ts'

/** Cuts after which a plane is started; the data on the disk is checked after every cut. */
const STARTS = 30
const AT_A_TIME = 3
const JOIN_WITHIN_MS = 60_000

let disk: PowerDisk
beforeEach(async () => {
  disk = await PowerDisk.make()
})
afterEach(() => disk.remove())

const contentOf = (path: string) => (existsSync(path) ? readFileSync(path, 'utf8') : null)
const filesIn = (dir: string) => (existsSync(dir) ? readdirSync(dir, { recursive: true }).map(String) : [])

/** This many elements of a list, evenly spread, including the first and the last. */
function spread<T>(all: readonly T[], count: number): T[] {
  const wanted = Math.min(count, all.length)
  return Array.from({ length: wanted }, (_, index) => all[Math.round((index * (all.length - 1)) / (wanted - 1))] as T)
}

async function atATime<T>(all: readonly T[], work: (one: T) => Promise<void>): Promise<void> {
  const left = all.values()
  await Promise.all(
    Array.from({ length: AT_A_TIME }, async () => {
      for (const one of left) await work(one)
    }),
  )
}

test('[DUR-3] after a power cut at any moment of a first start, the next start has a plane, and every key that was printed opens it', async () => {
  const stop = disk.cutAtEachWrite()
  const plane = await startPlane({ dataDir: join(disk.path, 'new/data'), args: ['--no-agent'] })
  const received = { readyAtMs: Date.now(), jobAtMs: Number.POSITIVE_INFINITY, endpointId: '', jobId: '' }
  try {
    const user = createApiClient(plane.url, plane.apiKey)
    const body = { name: 'kept', image: 'builtin/echo', cpu: [{ id: 'cpu3c', vcpuCount: 2 }], workers: { min: 0, max: 1 } }
    received.endpointId = (await user.createEndpoint({ body })).id
    received.jobId = (
      await callPlane<{ id: string }>(plane, plane.apiKey, 'POST', `/v2/${received.endpointId}/run`, { input: { n: 1 } })
    ).id
    received.jobAtMs = Date.now()
  } finally {
    disk.cut()
    await killPlane(plane)
  }
  const cuts = stop()
  const secrets = contentOf(join(plane.dataDir, 'secrets.json'))
  expect(cuts.length).toBeGreaterThan(STARTS)
  for (const cut of cuts) {
    await disk.behind(cut, async (path) => {
      const dataDir = join(path, 'new/data')
      const hasDatabase = filesIn(join(dataDir, 'plane')).some((name) => name.endsWith('.sqlite'))
      expect(contentOf(join(dataDir, 'secrets.json'))).toBeOneOf(hasDatabase ? [secrets] : [secrets, null])
    })
  }
  await atATime(spread(cuts, STARTS), (cut) =>
    disk.behind(cut, async (path) => {
      const next = await startPlane({ dataDir: join(path, 'new/data'), args: ['--no-agent'] })
      try {
        if (cut.atMs > received.readyAtMs) await callPlane(next, plane.apiKey, 'GET', `/v2/${plane.endpointId}/health`)
        if (cut.atMs > received.jobAtMs) await callPlane(next, plane.apiKey, 'GET', `/v2/${received.endpointId}/status/${received.jobId}`)
      } finally {
        await killPlane(next)
      }
    }),
  )
}, 600_000)

test('[DUR-4] after a power cut at any moment of a join, it is the same host: by its token until it has linked, without one from then on', async () => {
  const plane = await startPlane({ args: ['--no-agent'] })
  const operator = createApiClient(plane.url, plane.operatorKey)
  try {
    const cuts = [await cutsOfJoin('first'), await cutsOfJoin('second')]
    expect(cuts.reduce((sum, count) => sum + count)).toBeGreaterThan(STARTS)
  } finally {
    await plane.stop()
  }

  /** The numbers of cuts during a join and during a first link; after each of them the host was the expected one. */
  async function cutsOfJoin(name: string): Promise<number> {
    const front = await startLinklessFront(plane)
    const token = await createJoinToken(operator, name)
    const stateOf = (path: string) => join(path, name, 'state')
    const stop = disk.cutAtEachWrite()
    const hostId = await joinAndDie(front.url, stateOf(disk.path), token)
    const joining = stop()
    await atATime(joining, (cut) =>
      disk.behind(cut, async (path) => {
        // Without a key it has not enrolled yet, so its token would be valid; here it is not, because the first agent went on to enrol.
        const hasKey = contentOf(join(stateOf(path), 'host-key.json')) !== null
        expect(hasKey || cut.atMs <= front.askedAtMs()).toBe(true)
        const id = await joinAndDie(front.url, stateOf(path), hasKey ? token : await createJoinToken(operator, name))
        expect(id === hostId).toBe(hasKey)
      }),
    )
    await front.close()

    const stopAgain = disk.cutAtEachWrite()
    const agent = await startAgent({ plane, name, runtime: 'process', stateDir: stateOf(disk.path) })
    await agent.kill('SIGKILL')
    const linking = stopAgain()
    await atATime(linking, (cut) =>
      disk.behind(cut, async (path) => expect(await joinAndDie(plane.url, stateOf(path), undefined)).toBe(hostId)),
    )
    const unanswered = joining.find(({ atMs }) => atMs >= front.askedAtMs())
    if (unanswered === undefined) throw new Error('the power never went behind the question')
    const spent = disk.behind(unanswered, (path) => {
      rmSync(join(stateOf(path), 'host.json'), { force: true })
      return joinAndDie(plane.url, stateOf(path), token)
    })
    await expect(spent).rejects.toThrow(/join token is unknown, used or expired/)
    return joining.length + linking.length
  }
}, 600_000)

/** Runs an agent until it has a host id, and kills it. Throws with its output when it gives up. */
async function joinAndDie(url: string, stateDir: string, token: string | undefined): Promise<string> {
  const args = ['src/host-agent/main.ts', '--url', url, '--name', 'cut', '--state-dir', stateDir, '--runtime', 'process']
  const env = { ...process.env, ...(token !== undefined && { PODPLANE_JOIN_TOKEN: token }) }
  const agent = spawn(process.execPath, args, { cwd: PROJECT_ROOT, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [agent.stdout, agent.stderr]) stream.on('data', (chunk) => (output += String(chunk)))
  const ended = new Promise((resolve) => agent.once('close', resolve))
  try {
    return await waitUntil('the agent knows its host', () => hostIdIn(output) ?? (hasEnded(agent) && fail(output)), JOIN_WITHIN_MS)
  } finally {
    agent.kill('SIGKILL')
    await ended
  }
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess) => exitCode !== null || signalCode !== null
const hostIdIn = (output: string) => /"msg":"this host","hostId":"([^"]+)"/.exec(output)?.[1]

function fail(output: string): never {
  throw new Error(`the agent gave up:\n${output}`)
}

/** A proxy before a plane that passes everything but links, so that no host is ever online. */
async function startLinklessFront(plane: TestPlane): Promise<{ url: string; askedAtMs(): number; close(): Promise<void> }> {
  let askedAtMs = Number.POSITIVE_INFINITY
  const server = createServer(async (incoming, outgoing) => {
    if (incoming.url === '/host/v1/enrol') askedAtMs = Math.min(askedAtMs, Date.now())
    const { method = 'GET', headers } = incoming
    const body = await buffer(incoming)
    const given = { 'content-type': headers['content-type'] ?? '', authorization: headers.authorization ?? '' }
    const reply = await fetch(`${plane.url}${incoming.url}`, { method, headers: given, ...(method !== 'GET' && { body }) })
    outgoing.writeHead(reply.status, { 'content-type': reply.headers.get('content-type') ?? '' })
    outgoing.end(Buffer.from(await reply.arrayBuffer()))
  })
  server.on('upgrade', (_request, socket) => socket.destroy())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    askedAtMs: () => askedAtMs,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  }
}
