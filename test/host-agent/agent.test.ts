import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterEach, beforeEach, describe, test, vi } from 'vitest'
import { UNCONFINED } from '../../src/host-agent/process/confinement.ts'
import { ProcessRecord } from '../../src/host-agent/process/record.ts'
import { ProcessRuntime } from '../../src/host-agent/process/runtime.ts'
import { RelayCallers } from '../../src/host-agent/relay/admission/callers.ts'
import { waitUntil as waitFor } from '../support/time.ts'
import { FakeEngine, sendJson, sendZeros } from './support/fake-engine.ts'
import { FakePlane } from './support/fake-plane.ts'
import { installProgram } from './support/fake-program.ts'
import { makeWorkload, workerEnv } from './support/workload.ts'

/** Each test starts programs, which take many seconds where others have the processor. */
const SLOW_START_MS = 100_000
const waitUntil = <T>(what: string, probe: Parameters<typeof waitFor<T>>[1]) => waitFor(what, probe, SLOW_START_MS)

const ENTRY = join(import.meta.dirname, '../../src/host-agent/main.ts')

interface Agent {
  child: ChildProcess
  stderr: string
  exit: Promise<number | null>
}

describe('agent against a plane', { timeout: SLOW_START_MS + 20_000 }, () => {
  let plane: FakePlane
  let url: string
  let stateDir: string
  const agents: Agent[] = []

  beforeEach(async () => {
    plane = new FakePlane()
    url = await plane.listen()
    stateDir = mkdtempSync(join(tmpdir(), 'podplane-agent-'))
  })
  afterEach(async () => {
    await Promise.all(agents.map((agent) => end(agent, 'SIGKILL')))
    // Workloads outlive their agent by design, but not a test.
    const left = new ProcessRuntime({
      dir: join(stateDir, 'processes'),
      command: [process.execPath],
      relayUrl: '',
      callers: new RelayCallers('loopback'),
      confinement: UNCONFINED,
    })
    for (const { id } of await left.list()) await left.stop(id, 0)
    agents.length = 0
    await plane.close()
    rmSync(stateDir, { recursive: true, force: true })
  })

  function startAgent(...flags: string[]): Agent {
    return startAgentWith([], ...flags)
  }

  function startAgentWith(nodeFlags: string[], ...flags: string[]): Agent {
    const args = [
      ...nodeFlags,
      ENTRY,
      '--url',
      url,
      '--token',
      plane.joinToken,
      '--name',
      'test',
      '--state-dir',
      stateDir,
      '--runtime',
      'process',
      ...flags,
    ]
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] })
    const agent: Agent = { child, stderr: '', exit: once(child, 'exit').then(([code]) => code) }
    child.stderr?.on('data', (data) => {
      agent.stderr += data
    })
    agents.push(agent)
    return agent
  }

  async function end(agent: Agent, signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null> {
    agent.child.kill(signal)
    return await agent.exit
  }

  test('enrols, says hello with its inventory, runs a pod, stops it and reports it gone', async ({ expect }) => {
    startAgent('--simulate-gpus', 'NVIDIA L4:2')
    const hello = await waitUntil('hello', () => plane.messages.find((message) => message.type === 'hello'))
    expect(hello.inventory.gpus).toEqual([
      {
        typeId: 'NVIDIA L4',
        count: 2,
        memoryMb: 24 * 1024,
        driverVersion: expect.any(String),
        cudaVersion: expect.any(String),
        simulated: true,
      },
    ])
    expect(hello.inventory.simulated).toBe(true)

    plane.setDesired(makeWorkload({ id: 'pod1' }))
    await waitUntil('running', () => plane.last('pod1')?.state === 'running')
    plane.setDesired(makeWorkload({ id: 'pod1', desired: 'stopped' }))
    await waitUntil('gone', () => plane.last('pod1')?.state === 'gone')
    expect(plane.states('pod1')).toEqual(['starting', 'running', 'exited', 'gone'])
    expect(plane.reports.map((report) => report.sequence)).toEqual([1, 2, 3, 4])
  })

  test('[HOST-40, HOST-41] reports the machine, its addresses, and the problems of its GPUs', async ({ expect }) => {
    const path = process.env.PATH
    const gpu = 'GPU-8a2c5e1f-3f0b-6d4e-9a71-2b8d1c9e7f10'
    installProgram(
      stateDir,
      'nvidia-smi',
      `case "$1" in
        --query-gpu=name*) echo 'NVIDIA A40, 46068, 570.124.06, ${gpu}' ;;
        --query-gpu=index*) echo '0, ${gpu}, 00000000:3B:00.0, 2, No, 41' ;;
        *) echo '| NVIDIA-SMI 570.124.06   Driver Version: 570.124.06   CUDA Version: 12.8 |' ;;
      esac`,
    )
    for (const program of ['journalctl', 'dmesg']) installProgram(stateDir, program, 'exit 1')
    process.env.PATH = `${stateDir}${delimiter}${path}`
    try {
      startAgent('--public-ip', '203.0.113.7', '--port-range', '40000-40100')
    } finally {
      process.env.PATH = path
    }
    const hello = await waitUntil('hello', () => plane.messages.find((message) => message.type === 'hello'))
    expect(hello.inventory).toMatchObject({ publicIp: '203.0.113.7', portRange: { from: 40_000, to: 40_100 } })
    expect(hello.inventory.gpus).toMatchObject([{ typeId: 'NVIDIA A40', driverVersion: '570.124.06', cudaVersion: '12.8' }])
    const health = () => plane.messages.find((message) => message.type === 'beat' && message.gpuHealth !== undefined)
    expect(await waitUntil('a word about the GPUs', health)).toMatchObject({
      gpuHealth: [{ index: 0, uuid: gpu, problem: 'uncorrectable ECC errors' }],
    })
  })

  test('[HOST-66] image names that abuse the API of the engine neither end the agent nor affect other workloads', async ({ expect }) => {
    const engine = new FakeEngine(stateDir, (path, _request, response) => {
      if (path.startsWith('/networks/')) return sendJson(response, { IPAM: { Config: [{ Gateway: '127.0.0.1' }] } })
      if (path.startsWith('/images/huge')) return sendZeros(response, 1_024 * 2 ** 20)
      if (path === '/info') return sendJson(response, {})
      if (path.includes('/json?')) return sendJson(response, [])
      response.writeHead(301, { location: 'http:/v1.41/somewhere' }).end()
    })
    vi.stubEnv('DOCKER_HOST', engine.address)
    try {
      const agent = startAgent('docker', '--local-images')
      const images = ['https://docker.io/library/nginx:latest', 'a/../../b', 'file:///etc/passwd', 'get?names=secbig:1&x=', 'moved', 'huge']
      const odd = images.map((image, index) => makeWorkload({ id: `odd${index}`, image }))
      plane.setDesired(...odd, makeWorkload({ id: 'good' }))
      for (const { id } of odd) await waitUntil('an error', () => plane.last(id)?.state === 'error')
      await waitUntil('the others run', () => plane.last('good')?.state === 'running')
      expect(odd.map(({ id }) => plane.last(id)?.reason)).toEqual([
        ...images.slice(0, 4).map((image) => expect.stringContaining(`image '${image}' is not valid: want an image reference`)),
        ...images.slice(4).map((image) => `image pull failed: ${image}: the container engine of this host could not load the image`),
      ])
      expect(agent.child.exitCode).toBeNull()
    } finally {
      vi.unstubAllEnvs()
      engine.close()
    }
  })

  test('a worker takes a job through the relay and posts its result', async ({ expect }) => {
    startAgent()
    plane.setDesired(makeWorkload({ id: 'w1', kind: 'worker', image: 'builtin/echo', platformEnv: workerEnv('ep1', 'w1') }))
    plane.jobs.submit('job-1', { text: 'hello' })
    const result = await waitUntil('result', () => plane.jobs.result('job-1'))
    expect(result.body).toEqual({ output: { text: 'hello' } })
    expect(result.authorization).toBe('ppw_test_worker_key')
  })

  test('a restarted agent adopts running workloads, reports an exit of the time between, and starts nothing twice', async ({ expect }) => {
    const first = startAgent()
    const kept = makeWorkload({ id: 'kept' })
    const dying = makeWorkload({ id: 'dying', kind: 'worker', image: 'builtin/probe', platformEnv: workerEnv('ep1', 'w1', url) })
    plane.setDesired(kept, dying)
    await waitUntil('both running', () => plane.last('kept')?.state === 'running' && plane.last('dying')?.state === 'running')
    await end(first, 'SIGKILL')
    plane.jobs.submit('job-1', { exit: 7 })
    const { exitPath } = new ProcessRecord(join(stateDir, 'processes'), 'dying')
    await waitUntil('the end of the worker', () => existsSync(exitPath))
    plane.messages.length = 0
    startAgent()
    await waitUntil('exit of the worker', () => plane.last('dying')?.state === 'exited')
    expect(plane.last('dying')).toMatchObject({ exitCode: 7, reason: 'exited with code 7: job job-1: started' })
    const hello = await waitUntil('hello', () => plane.messages.find((message) => message.type === 'hello'))
    expect(hello.workloads.find((report) => report.workloadId === 'kept')?.state).toBe('running')
    plane.push()
    plane.setDesired(makeWorkload({ id: 'kept', desired: 'stopped' }), dying)
    await waitUntil('gone', () => plane.last('kept')?.state === 'gone')
    expect(plane.states('dying')).toEqual(['starting', 'running', 'exited'])
    expect(plane.states('kept')).toEqual(['starting', 'running', 'exited', 'gone'])
  })

  test('reports that the plane did not acknowledge survive a restart of the agent', async ({ expect }) => {
    plane.eventsStatus = 503
    const first = startAgent()
    plane.setDesired(makeWorkload({ id: 'pod1' }))
    await waitUntil('running', () => plane.messages.some((message) => message.type === 'beat' && message.workloads[0]?.state === 'running'))
    expect(await end(first, 'SIGTERM')).toBe(0)
    plane.eventsStatus = 200
    startAgent()
    await waitUntil('reports', () => plane.states('pod1').length === 2)
    expect(plane.states('pod1')).toEqual(['starting', 'running'])
  })

  test('[LOG-5][LOG-16][HOST-12] the log of a workload is whole and in order although its agent was killed and the plane was away', async ({
    expect,
  }) => {
    const first = startAgent()
    const log = { kind: 'worker' as const, ownerId: 'ep1', grant: 'g' }
    const worker = { id: 'w1', kind: 'worker' as const, image: 'builtin/echo', platformEnv: workerEnv('ep1', 'w1', url), log }
    plane.setDesired(makeWorkload(worker))
    plane.jobs.submit('job-1', {})
    await waitUntil('the first job in the log', () => plane.log('w1').includes('job job-1: done'))
    plane.logsStatus = 503
    plane.jobs.submit('job-2', {})
    await waitUntil('the second job', () => plane.jobs.result('job-2'))
    await end(first, 'SIGKILL')
    plane.jobs.submit('job-3', {})
    await waitUntil('the third job, without an agent', () => plane.jobs.result('job-3'))
    startAgent()
    plane.logsStatus = 200
    await waitUntil('the third job in the log', () => plane.log('w1').includes('job job-3: done'))
    plane.setDesired(makeWorkload({ ...worker, desired: 'stopped' }))
    await waitUntil('the end in the log', () => plane.log('w1').some((line) => line.startsWith('[exited')))
    const jobs = ['job-1', 'job-2', 'job-3'].flatMap((job) => [`job ${job}: started`, `job ${job}: done`])
    expect(plane.log('w1')).toEqual([
      '[creating from image builtin/echo]',
      '[started]',
      'worker w1: waiting for jobs',
      ...jobs,
      '[exited with code 0]',
    ])
    await waitUntil('gone', () => plane.last('w1')?.state === 'gone')
  })

  test('on revocation all workloads are stopped and the agent exits with 0', async ({ expect }) => {
    const agent = startAgent()
    plane.setDesired(makeWorkload({ id: 'pod1' }))
    await waitUntil('running', () => plane.last('pod1')?.state === 'running')
    plane.send({ type: 'revoked', reason: 'removed by its owner' })
    expect(await agent.exit).toBe(0)
    expect(agent.stderr).toContain('"workload":"pod1","state":"gone"')
  })

  test('names the workloads that keep running when it ends', async ({ expect }) => {
    const agent = startAgent()
    plane.setDesired(makeWorkload({ id: 'pod1' }))
    await waitUntil('running', () => plane.last('pod1')?.state === 'running')
    expect(await end(agent, 'SIGTERM')).toBe(0)
    expect(agent.stderr).toMatch(/workloads keep running without the agent; --on-exit stop would end them.*"workloads":1/)
  })

  test('--on-exit stop stops and reports before the agent ends', async ({ expect }) => {
    const agent = startAgent('--on-exit', 'stop')
    const worker = makeWorkload({ id: 'w1', kind: 'worker', image: 'builtin/echo', platformEnv: workerEnv('ep1', 'w1') })
    plane.setDesired(makeWorkload({ id: 'pod1' }), worker)
    await waitUntil('running', () => plane.last('pod1')?.state === 'running' && plane.last('w1')?.state === 'running')
    expect(await end(agent, 'SIGTERM')).toBe(0)
    expect(plane.states('w1')).toEqual(['starting', 'running', 'exited', 'gone'])
    // A pod is the user's to start again (HOST-61).
    expect(plane.states('pod1')).toEqual(['starting', 'running', 'exited'])
  })

  test('an image that no runtime can run is an error with the reason', async ({ expect }) => {
    startAgent()
    plane.setDesired(makeWorkload({ id: 'pod1', image: 'nginx:1.27' }), makeWorkload({ id: 'pod2', image: 'builtin/nothing' }))
    await waitUntil('errors', () => plane.last('pod1')?.state === 'error' && plane.last('pod2')?.state === 'error')
    expect(plane.last('pod1')?.reason).toBe("no runtime on this host can run image 'nginx:1.27': Docker does not answer")
    expect(plane.last('pod2')?.reason).toBe('unknown built-in image builtin/nothing; known: builtin/echo, builtin/idle, builtin/probe')
  })

  test('[HOST-50][HOST-51] a built-in pod is held, started again under a new id, and terminated', async ({ expect }) => {
    startAgent()
    plane.setDesired(makeWorkload({ id: 'p-1' }))
    await waitUntil('running', () => plane.last('p-1')?.state === 'running')
    plane.setDesired(makeWorkload({ id: 'p-1', desired: 'held' }))
    await waitUntil('exited', () => plane.last('p-1')?.state === 'exited')
    plane.setDesired(makeWorkload({ id: 'p-1', desired: 'held' }), makeWorkload({ id: 'p-2', replaces: ['p-1'], keepDisk: true }))
    await waitUntil('the former gone', () => plane.last('p-1')?.state === 'gone')
    expect(plane.states('p-1')).toEqual(['starting', 'running', 'exited', 'gone'])
    expect(plane.last('p-2')?.state).toBe('running')
    plane.setDesired(makeWorkload({ id: 'p-2', desired: 'stopped', wipe: true }))
    await waitUntil('gone', () => plane.last('p-2')?.state === 'gone')
  })

  test('a built-in pod takes no mounts', async ({ expect }) => {
    startAgent()
    plane.setDesired(makeWorkload({ id: 'p-1', mounts: [{ kind: 'persistent', id: 'p', path: '/workspace', sizeGb: 1 }] }))
    await waitUntil('error', () => plane.last('p-1')?.state === 'error')
    expect(plane.last('p-1')?.reason).toBe('built-in images run outside any container and take no mounts')
  })

  test('a shorter grace overtakes the stop under way', async ({ expect }) => {
    startAgent()
    const worker = { id: 'w1', kind: 'worker' as const, image: 'builtin/probe', platformEnv: workerEnv('ep1', 'w1') }
    plane.setDesired(makeWorkload(worker))
    plane.jobs.submit('stuck', { hang: true })
    await waitUntil('the job runs', () => plane.jobs.pings.some((ping) => ping.get('job_id') === 'stuck'))
    plane.setDesired(makeWorkload({ ...worker, desired: 'stopped', stopGraceMs: 60_000 }))
    // A program that ignores its stop shows no sign of it: a beat of the agent names the revision that it applies.
    const isInForce = () => plane.messages.some((message) => message.type === 'beat' && message.appliedRevision === plane.revision)
    await waitUntil('the stop under way', isInForce)
    expect(plane.last('w1')?.state).toBe('running')
    plane.setDesired(makeWorkload({ ...worker, desired: 'stopped', stopGraceMs: 100 }))
    await waitUntil('gone', () => plane.last('w1')?.state === 'gone')
    expect(plane.last('w1')).toMatchObject({ exitCode: 137, reason: 'killed by signal SIGKILL' })
  })

  test('a machine whose clock is an hour off still gets its tokens', async ({ expect }) => {
    const skew = 'const now = Date.now; Date.now = () => now() - 3_600_000'
    const agent = startAgent()
    await waitUntil('enrolment', () => plane.messages.length > 0)
    await end(agent, 'SIGTERM')
    plane.messages.length = 0
    startAgentWith([`--import=data:text/javascript,${encodeURIComponent(skew)}`])
    expect(await waitUntil('hello', () => plane.messages[0])).toMatchObject({ type: 'hello' })
  })

  test('links again, with a new token, when the plane forgot the old one', async ({ expect }) => {
    startAgent()
    plane.setDesired(makeWorkload({ id: 'pod1' }))
    await waitUntil('running', () => plane.last('pod1')?.state === 'running')
    plane.accessTokens.clear()
    plane.messages.length = 0
    plane.dropLinks()
    const hello = await waitUntil('hello', () => plane.messages.find((message) => message.type === 'hello'))
    expect(hello.workloads).toMatchObject([{ workloadId: 'pod1', state: 'running' }])
    expect(plane.states('pod1')).toEqual(['starting', 'running'])
  })

  test('waits for a plane that is not up yet, with a message; a bad token ends it with one line', async ({ expect }) => {
    await plane.close()
    const early = startAgent()
    await waitUntil(
      'a warning',
      () => early.stderr.includes(`cannot reach the plane at ${url} (`) && early.stderr.includes('trying again in'),
    )
    plane = new FakePlane()
    await plane.listen(Number(new URL(url).port))
    await waitUntil('hello', () => plane.messages.length > 0)

    const bad = startAgent('--token', 'ppj_wrong_token', '--state-dir', join(stateDir, 'other'))
    expect(await bad.exit).toBe(1)
    expect(bad.stderr).toMatch(
      /podplane-agent: --token was refused by the plane \(401\): [^;]*; create a new join token and pass it with --token\n$/,
    )
  })

  test('a second agent on the same state directory is refused with one line', async ({ expect }) => {
    startAgent()
    await waitUntil('hello', () => plane.messages.length > 0)
    const second = startAgent()
    expect(await second.exit).toBe(1)
    expect(second.stderr).toMatch(/^podplane-agent: --state-dir .* is in use by another agent \(process \d+\).*\n$/)
  })
})
