import { closeSync, openSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { hasCode } from '../../../src/node/fail.ts'
import { makeSmallDisk, removeMounted } from '../support/machines/tmpfs.ts'
import { eventually, launch, startPlane, type TestPlane } from '../support/plane/plane.ts'

const DISK_MB = 160
const SEEN_WITHIN_MS = 20_000
const READS = ['/v2/pods', '/v2/serverless', '/v2/account/limits', '/v2/billing/pods', '/v2/templates']
const FULL = { title: 'Storage Full', status: 503, code: 'STORAGE_FULL' }

/** Fills a file system to its last block. Returns a function that empties it again. */
function fill(directory: string): () => void {
  const path = join(directory, 'fill')
  const fd = openSync(path, 'w')
  for (const size of [2 ** 20, 2 ** 12, 1]) {
    try {
      for (;;) writeSync(fd, Buffer.alloc(size, 1))
    } catch (error) {
      if (!hasCode(error, 'ENOSPC')) throw error
    }
  }
  closeSync(fd)
  return () => rmSync(path)
}

const call = (plane: TestPlane, method: string, path: string, body?: unknown) =>
  fetch(plane.url + path, {
    method,
    headers: { authorization: `Bearer ${plane.apiKey}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
const submit = (plane: TestPlane) => call(plane, 'POST', `/v2/${plane.endpointId}/run`, { input: { text: 'x'.repeat(2_000) } })
const failed = async (plane: TestPlane) => {
  const { failed: names = [] } = (await (await fetch(`${plane.url}/readyz`)).json()) as { failed?: string[] }
  return names
}

describe('a plane whose disk is full', () => {
  let disk: string
  let plane: TestPlane
  beforeAll(async () => {
    disk = await makeSmallDisk(DISK_MB)
    plane = await startPlane({ args: ['--no-agent'], dataDir: join(disk, 'data') })
  })
  afterAll(async () => {
    await plane?.stop()
    await removeMounted(disk)
  })

  test('[PLANE-12] refuses new data with a named error, continues to answer reads, and recovers by itself', async ({ expect }) => {
    const accepted = (await (await submit(plane)).json()) as { id: string }
    expect(await failed(plane)).toEqual([])
    const empty = fill(disk)
    // These writes meet the full disk, and reset the database that the reads use.
    const renames = Array.from({ length: 20 }, (_, n) => call(plane, 'PATCH', `/v2/serverless/${plane.endpointId}`, { name: `echo ${n}` }))
    for (const path of [...READS, ...READS]) expect([path, (await call(plane, 'GET', path)).status]).toEqual([path, 200])
    await Promise.all(renames)
    // The first submit may meet the full disk itself; it has the same answer.
    const refused = await eventually('a submit is refused', SEEN_WITHIN_MS, async () => {
      const reply = await submit(plane)
      return reply.status === 200 ? undefined : reply
    })
    expect(refused.headers.get('retry-after')).toBe('30')
    expect(await refused.json()).toMatchObject(FULL)
    for (const path of READS) expect([path, (await call(plane, 'GET', path)).status]).toEqual([path, 200])
    expect((await call(plane, 'GET', `/v2/${plane.endpointId}/status/${accepted.id}`)).status).toBe(200)
    await eventually('it is not ready', SEEN_WITHIN_MS, async () => (await failed(plane)).includes('disk'))
    empty()
    await eventually('a submit is accepted', SEEN_WITHIN_MS, async () => (await submit(plane)).status === 200)
    await eventually('it is ready', SEEN_WITHIN_MS, async () => (await failed(plane)).length === 0)
  })

  test('[PLANE-12] starts on a full disk, and accepts work once there is room', async ({ expect }) => {
    await plane.kill('SIGKILL')
    const empty = fill(disk)
    const launched = launch({ dataDir: plane.dataDir, port: plane.port, args: ['--no-agent'] })
    // The runtime of the killed plane may still answer for a moment.
    await eventually('it has started', 60_000, async () => /podplane is ready|is full/.test(launched.output()))
    await eventually('it answers reads', SEEN_WITHIN_MS, async () => (await call(plane, 'GET', '/v2/pods')).status === 200)
    empty()
    await eventually('a submit is accepted', SEEN_WITHIN_MS, async () => (await submit(plane)).status === 200)
    launched.process.kill('SIGINT')
    expect(await launched.ended, launched.output()).toBe(0)
  })
})

describe('a plane whose files are damaged', () => {
  let plane: TestPlane
  beforeAll(async () => {
    plane = await startPlane({ args: ['--no-agent'] })
    await submit(plane)
  })
  afterAll(() => plane?.stop())
  const databases = (folder: string) =>
    readdirSync(join(plane.dataDir, 'plane', folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.sqlite') && !name.endsWith('metadata.sqlite'))
      .map((name) => join(plane.dataDir, 'plane', folder, name))

  test('[PLANE-14] names them, and serves the intact ones', async ({ expect }) => {
    await plane.kill('SIGINT')
    const [victim = ''] = databases('do/podplane-EndpointObject')
    const whole = readFileSync(victim)
    const fd = openSync(victim, 'r+')
    writeSync(fd, Buffer.alloc(4096, 0xab), 0, 4096, 0)
    closeSync(fd)
    plane = await plane.restart()
    await eventually('it is not ready', SEEN_WITHIN_MS, async () => (await failed(plane)).includes('files'))
    expect((await call(plane, 'GET', '/v2/pods')).status).toBe(200)
    const status = await fetch(`${plane.url}/admin/v1/plane`, { headers: { authorization: `Bearer ${plane.operatorKey}` } })
    const { checks } = (await status.json()) as { checks: { id: string; evidence: string }[] }
    expect(checks.find(({ id }) => id === 'files')?.evidence).toContain(victim.slice(victim.indexOf('do/')))
    await plane.kill('SIGINT')
    const repaired = openSync(victim, 'w')
    writeSync(repaired, whole)
    closeSync(repaired)
    plane = await plane.restart()
    expect(await failed(plane)).toEqual([])
  })

  test('[PLANE-14] a database without its tables is not treated as a new one', async ({ expect }) => {
    await plane.kill('SIGINT')
    for (const path of databases('d1')) {
      expect(statSync(path).size).toBeGreaterThan(0)
      rmSync(`${path}-wal`, { force: true })
      rmSync(`${path}-shm`, { force: true })
      truncateSync(path, 0)
    }
    const launched = launch({ dataDir: plane.dataDir, port: plane.port, args: ['--no-agent'] })
    expect(await launched.ended, launched.output()).toBe(1)
    expect(launched.output()).toContain('has lost its tables')
  })
})
