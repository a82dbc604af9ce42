import { execFile, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, describe, test } from 'vitest'
import { PROJECT_ROOT } from '../../../src/local/paths.ts'
import { claimPort, LOOPBACK } from '../../../src/local/port.ts'
import { isAlive, readStartTime } from '../../../src/node/process-identity.ts'
import { busyness } from '../../support/runner/machine.ts'
import { STAY_SCRIPT } from '../support/agent/pod-scripts.ts'
import { busyboxImage } from '../support/agent/worker-image.ts'
import { callPlane, eventually, launch, startPlane, type TestPlane } from '../support/plane/plane.ts'
import { podBody, TestPod } from '../support/plane/pods.ts'

interface JobRecord {
  id: string
  status: string
  output?: unknown
}

const READY_LIMIT_MS = 15_000
const MOST_STARTS = 4
const JOB_TIMEOUT_MS = 30_000

const runJob = (plane: TestPlane, input: unknown) =>
  callPlane<JobRecord>(plane, plane.apiKey, 'POST', `/v2/${plane.endpointId}/runsync`, { input })
const submit = (plane: TestPlane, endpointId: string, input: unknown) =>
  callPlane<JobRecord>(plane, plane.apiKey, 'POST', `/v2/${endpointId}/run`, { input })
const readJob = (plane: TestPlane, endpointId: string, id: string) =>
  callPlane<JobRecord>(plane, plane.apiKey, 'GET', `/v2/${endpointId}/status/${id}`)

describe('npm start', () => {
  let plane: TestPlane
  beforeAll(async () => {
    plane = await startPlane({ args: ['--simulate-gpus', 'NVIDIA L4:1'] })
  })
  afterAll(() => plane?.stop())

  test('is ready in less than 15 s', async ({ expect }) => {
    const limitMs = READY_LIMIT_MS * busyness()
    const readyMs = [plane.readyMs]
    // Other test files run beside this one, which only adds to the time of a start.
    while (Math.min(...readyMs) >= limitMs && readyMs.length < MOST_STARTS) {
      const other = await startPlane()
      readyMs.push(other.readyMs)
      await other.stop()
    }
    expect(Math.min(...readyMs), readyMs.join(', ')).toBeLessThan(limitMs)
  })

  test('prints a curl line that a shell can run and that returns a completed job', async ({ expect }) => {
    const line = plane.output().match(/^curl .*$/m)?.[0] ?? ''
    const { stdout } = await promisify(execFile)('sh', ['-c', line], { timeout: JOB_TIMEOUT_MS })
    expect(JSON.parse(stdout)).toMatchObject({ status: 'COMPLETED' })
  })

  test('prints the address, the key and the endpoint that demo.json holds', ({ expect }) => {
    for (const value of [plane.url, plane.apiKey, plane.endpointId]) expect(plane.output()).toContain(value)
  })

  test('[SESSION-16] prints a link that signs the demo user in at the console once, as an operator, and that no log contains', async ({
    expect,
  }) => {
    const [, base, link = ''] = /^ {2}Console +(\S+)\/console\/sign-in#link=(\S+)$/m.exec(plane.output()) ?? []
    expect(base).toBe(plane.url)
    const headers = { 'content-type': 'application/json', 'x-requested-with': 'podplane' }
    const open = () => fetch(`${plane.url}/console/session`, { method: 'POST', headers, body: JSON.stringify({ link }) })
    const first = await open()
    expect([first.status, await first.json()]).toMatchObject([
      201,
      { signedIn: true, user: { email: 'demo@podplane.local' }, isOperator: true, signedInBy: 'LINK' },
    ])
    const cookie = first.headers.getSetCookie()[0]?.split(';')[0] ?? ''
    const seen = await Promise.all(['/v2/serverless', '/admin/v1/hosts'].map((path) => fetch(plane.url + path, { headers: { cookie } })))
    expect(seen.map(({ status }) => status)).toEqual([200, 200])
    expect((await open()).status).toBe(401)
    const logs = readdirSync(join(plane.dataDir, 'logs')).map((name) => readFileSync(join(plane.dataDir, 'logs', name), 'utf8'))
    for (const secret of [link, cookie.split('=')[1] ?? '']) expect(logs.join('\n')).not.toContain(secret)
  })

  test('writes demo.json with all five members, readable by its owner only', ({ expect }) => {
    const path = join(plane.dataDir, 'demo.json')
    expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({
      url: plane.url,
      apiKey: plane.apiKey,
      endpointId: plane.endpointId,
      operatorKey: plane.operatorKey,
      podImage: 'builtin/idle',
    })
    expect(statSync(path).mode & 0o777).toBe(0o600)
  })

  test('writes no secret into a file that others may read', ({ expect }) => {
    const open = readdirSync(plane.dataDir, { withFileTypes: true })
      .filter((entry) => entry.isFile())
      .filter((entry) => (statSync(join(plane.dataDir, entry.name)).mode & 0o077) !== 0)
    expect(open.map((entry) => entry.name)).toEqual([])
  })

  test('[PLANE-23] the demo account has quotas that one machine cannot exhaust', async ({ expect }) => {
    const reply = await fetch(`${plane.url}/v2/serverless`, { headers: { authorization: `Bearer ${plane.apiKey}` } })
    expect(reply.headers.get('ratelimit-policy')).toBe('"minute";q=1000000;w=60, "hour";q=10000000;w=3600, "day";q=100000000;w=86400')
    expect(reply.headers.get('ratelimit')).toMatch(/^"minute";r=9999\d\d;t=\d+, "hour";r=99999\d\d;t=\d+, "day";r=999999\d\d;t=\d+$/)
    // /purge-queue has the smallest limit of the job API: two in ten seconds.
    const purge = () => callPlane(plane, plane.apiKey, 'POST', `/v2/${plane.endpointId}/purge-queue`)
    for (let call = 0; call < 5; call += 1) await purge()
  })

  test('[PLANE-22] a simulated GPU has a driver, so a pod may ask for a CUDA version', async ({ expect }) => {
    const pod = await TestPod.run(plane, { name: 'cuda', image: 'builtin/idle', gpu: { id: 'NVIDIA L4', minCudaVersion: '12.8' } })
    expect(await pod.get()).toMatchObject({ cudaVersion: '13.0' })
    await pod.terminate()
    const { hosts } = await callPlane<{ hosts: { gpus: object[] }[] }>(plane, plane.operatorKey, 'GET', '/admin/v1/hosts')
    expect(hosts.flatMap(({ gpus }) => gpus)).toMatchObject([{ driverVersion: '580.95.05', cudaVersion: '13.0', simulated: true }])
  })

  test('[PLANE-21] pods share network and global volumes, which are below the data directory', async ({ expect }) => {
    const create = (path: string, body: object) => callPlane<{ id: string }>(plane, plane.apiKey, 'POST', path, body)
    const network = await create('/v2/network-volumes', { name: 'datasets', size: 10, dataCenter: 'LOCAL-1' })
    const global = await create('/v2/global-volumes', { name: 'models' })
    const mounts = { network: [{ volumeId: network.id, path: '/near' }], global: [{ volumeId: global.id, path: '/far' }] }
    const script = `echo near >/near/file; echo far >/far/file; ${STAY_SCRIPT}`
    const body = podBody(await busyboxImage(), script, { mounts })
    // The machine has one GPU, and the program of the previous test may still be ending.
    const pod = await eventually('the machine is free', JOB_TIMEOUT_MS, () => TestPod.create(plane, body).catch(() => undefined))
    await pod.reaches('RUNNING')
    const fileOf = (kind: string, id: string) => readFileSync(join(plane.dataDir, kind, id, 'file'), 'utf8')
    const read = () => [fileOf('network-volumes', network.id), fileOf('global-volumes', global.id)]
    expect(await eventually('both files are written', JOB_TIMEOUT_MS, async () => attempt(read))).toEqual(['near\n', 'far\n'])
    await pod.terminate()
  })

  test('refuses a second start on the same data directory, and the first continues', async ({ expect }) => {
    const second = launch({ dataDir: plane.dataDir, port: await claimPort(0) })
    expect(await second.ended).toBe(1)
    expect(second.output()).toContain(`is in use by another podplane (process ${plane.pid})`)
    expect((await runJob(plane, { still: 'here' })).status).toBe('COMPLETED')
  })
})

describe('a port in use', () => {
  let server: Server
  let dataDir: string
  afterEach(() => {
    rmSync(dataDir, { recursive: true, force: true })
    return new Promise((resolve) => server.close(resolve))
  })

  test('is a clear error and leaves nothing running', async ({ expect }) => {
    const port = await claimPort(0)
    server = createServer().listen(port, LOOPBACK)
    dataDir = mkdtempSync(join(tmpdir(), 'podplane-e2e-port-'))
    const launched = launch({ dataDir, port })
    expect(await launched.ended).toBe(1)
    expect(launched.output()).toContain(`port ${port} is already in use; set PORT=`)
    expect(readdirSync(dataDir)).not.toContain('lock.json')
  })
})

describe('a stop and a second start', () => {
  let plane: TestPlane
  afterEach(() => plane?.stop())

  test('SIGINT ends every process and frees the port; then the data, the key and the jobs are still there', async ({ expect }) => {
    plane = await startPlane()
    const job = await runJob(plane, { keep: 'me' })
    const started = processesOf(plane)
    expect(started.length).toBeGreaterThanOrEqual(2)

    expect(await plane.kill('SIGINT')).toBe(0)
    expect(started.filter(isAlive)).toEqual([])
    expect(processesNaming(plane.dataDir)).toEqual([])
    expect(await claimPort(plane.port)).toBe(plane.port)
    expect(readdirSync(plane.dataDir)).not.toContain('lock.json')

    const before = plane
    plane = await before.restart()
    expect({ apiKey: plane.apiKey, endpointId: plane.endpointId, operatorKey: plane.operatorKey }).toEqual({
      apiKey: before.apiKey,
      endpointId: before.endpointId,
      operatorKey: before.operatorKey,
    })
    expect(await readJob(plane, plane.endpointId, job.id)).toMatchObject({ id: job.id, status: 'COMPLETED' })
    expect((await runJob(plane, { again: true })).status).toBe('COMPLETED')
  })

  test('Ctrl-C in a terminal, which signals the whole process group, ends everything too', async ({ expect }) => {
    plane = await startPlane({ ownProcessGroup: true })
    await runJob(plane, { start: 'a worker' })
    const started = processesOf(plane)
    process.kill(-plane.pid, 'SIGINT')
    expect(await plane.ended).toBe(0)
    expect(started.filter(isAlive)).toEqual([])
    expect(processesNaming(plane.dataDir)).toEqual([])
  })

  test('SIGKILL of npm, whose shell outlives it: everything ends', async ({ expect, onTestFinished }) => {
    const dataDir = mkdtempSync(join(tmpdir(), 'podplane-e2e-'))
    const npm = spawn('npm', ['start'], {
      cwd: PROJECT_ROOT,
      env: { ...process.env, PODPLANE_DATA: dataDir, PORT: String(await claimPort(0)) },
      stdio: 'ignore',
      // Its own process group, so that its processes can be ended after a failed test.
      detached: true,
    })
    onTestFinished(async () => {
      if (existsSync(join(dataDir, 'lock.json'))) process.kill(-(npm.pid ?? 0), 'SIGINT')
      await eventually('nothing holds the directory', JOB_TIMEOUT_MS, async () => !existsSync(join(dataDir, 'lock.json')))
      rmSync(dataDir, { recursive: true, force: true })
    })
    await eventually('it is ready', JOB_TIMEOUT_MS, async () => existsSync(join(dataDir, 'demo.json')))
    expect(processesNaming(dataDir).length).toBeGreaterThan(0)
    npm.kill('SIGKILL')
    // Its last step releases the directory.
    await eventually('it has ended', JOB_TIMEOUT_MS, async () => !existsSync(join(dataDir, 'lock.json')))
    expect(processesNaming(dataDir)).toEqual([])
  })

  test('SIGKILL of the launcher: the next start takes over and loses no accepted job', async ({ expect }) => {
    plane = await startPlane()
    const waiting = await createIdleEndpoint(plane)
    const queued = await submit(plane, waiting, { wait: true })
    const orphans = processesOf(plane)

    expect(await plane.kill('SIGKILL')).toBe('SIGKILL')
    plane = await plane.restart()
    expect(orphans.filter(isAlive)).toEqual([])
    expect(await readJob(plane, waiting, queued.id)).toMatchObject({ id: queued.id, status: 'IN_QUEUE' })

    const accepted = await submit(plane, plane.endpointId, { after: 'SIGKILL' })
    const done = await eventually('the accepted job completes', JOB_TIMEOUT_MS, async () => {
      const job = await readJob(plane, plane.endpointId, accepted.id)
      return job.status === 'COMPLETED' && job
    })
    expect(done.id).toBe(accepted.id)
  })

  test('SIGKILL of workerd alone: it is restarted and retains the accepted jobs', async ({ expect }) => {
    plane = await startPlane()
    const waiting = await createIdleEndpoint(plane)
    const queued = await submit(plane, waiting, { wait: true })
    const [runtime] = processesOf(plane)
    process.kill(runtime?.pid ?? 0, 'SIGKILL')
    const job = await eventually('the plane answers again', JOB_TIMEOUT_MS, async () => {
      return readJob(plane, waiting, queued.id).catch(() => undefined)
    })
    expect(job).toMatchObject({ id: queued.id, status: 'IN_QUEUE' })
  })
})

/** The result of `read`, or undefined while a file is missing or empty. */
function attempt(read: () => string[]): string[] | undefined {
  try {
    const texts = read()
    return texts.includes('') ? undefined : texts
  } catch {
    return undefined
  }
}

/** An endpoint whose jobs stay queued. */
async function createIdleEndpoint(plane: TestPlane): Promise<string> {
  const { id } = await callPlane<{ id: string }>(plane, plane.apiKey, 'POST', '/v2/serverless', {
    name: 'waiting',
    image: 'builtin/echo',
    cpu: [{ id: 'cpu3c', vcpuCount: 2 }],
    workers: { min: 0, max: 0, idleTimeout: 60 },
    disk: 1,
  })
  return id
}

/** The runtime and the agent, as the launcher recorded them. */
function processesOf(plane: TestPlane): { pid: number; startTime: string }[] {
  const lock = JSON.parse(readFileSync(join(plane.dataDir, 'lock.json'), 'utf8')) as { children: { pid: number; startTime: string }[] }
  return lock.children.filter((child) => readStartTime(child.pid) === child.startTime)
}

/** Command lines that contain a path, such as those of agents and workers; Linux only, elsewhere none. */
function processesNaming(path: string): string[] {
  if (process.platform !== 'linux') return []
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => readCommandLine(pid))
    .filter((line) => line.includes(path))
}

function readCommandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
  } catch {
    return ''
  }
}
