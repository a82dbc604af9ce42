import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, test } from 'vitest'
import { UNCONFINED } from '../../../src/host-agent/process/confinement.ts'
import { ProcessRuntime } from '../../../src/host-agent/process/runtime.ts'
import { RelayCallers } from '../../../src/host-agent/relay/admission/callers.ts'
import type { StartHooks } from '../../../src/host-agent/runtime.ts'
import { parseProcStat } from '../../../src/node/process-identity.ts'
import { waitUntil } from '../../support/time.ts'
import { keyOf } from '../support/callers.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { makeWorkload, workerEnv } from '../support/workload.ts'

const ENTRY = join(import.meta.dirname, '../../../src/host-agent/main.ts')
const hooks: StartHooks = { onState: () => {}, signal: new AbortController().signal }

describe('process runtime', () => {
  let dir: string
  let runtime: ProcessRuntime

  beforeEach(() => {
    dir = makeTempDir('process-runtime')
    runtime = open()
  })
  afterEach(async () => {
    for (const { id } of await runtime.list()) await runtime.stop(id, 0)
    runtime.close()
    // Last, because the workloads that it lists and stops are in there.
    rmSync(dir, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
  })

  function open(callers = new RelayCallers('loopback')): ProcessRuntime {
    return new ProcessRuntime({ dir, command: [process.execPath, ENTRY], relayUrl: 'http://127.0.0.1:9', callers, confinement: UNCONFINED })
  }

  test('starts, stops by SIGTERM and leaves nothing behind', async ({ expect }) => {
    await runtime.start(makeWorkload({ id: 'a' }), hooks)
    expect(await runtime.list()).toMatchObject([{ id: 'a', phase: 'running' }])
    await outputOf('a', /idle: running/)
    await runtime.stop('a', 5_000)
    expect(await runtime.watch('a')).toMatchObject({ exitCode: 0, reason: 'exited with code 0' })
    await runtime.remove('a')
    expect(await runtime.list()).toEqual([])
  })

  async function outputOf(id: string, pattern: RegExp): Promise<string> {
    const output = () => readFileSync(join(dir, id, 'output.log'), 'utf8')
    return waitUntil(`${pattern} in the output of ${id}`, () => pattern.test(output()) && output())
  }

  test('[HOST-75] the relay knows a worker by its key while it runs, also in the next agent process', async ({ expect }) => {
    const callers = [new RelayCallers('loopback'), new RelayCallers('loopback')]
    const known = () => Promise.all(callers.map((connection) => connection.identify('127.0.0.1', keyOf('a'))))
    const platformEnv = { ...workerEnv('ep', 'a'), RUNPOD_AI_API_KEY: keyOf('a') }
    const first = open(callers[0])
    await first.start(makeWorkload({ id: 'a', kind: 'worker', platformEnv }), hooks)
    expect(await known()).toEqual(['a', undefined])
    const second = open(callers[1])
    await second.list()
    expect(await known()).toEqual(['a', 'a'])
    await first.stop('a', 5_000)
    await Promise.all([first.watch('a'), second.watch('a')])
    expect(await known()).toEqual([undefined, undefined])
  })

  test('after the grace comes SIGKILL', async ({ expect }) => {
    await runtime.start(makeWorkload({ id: 'a' }), hooks)
    // Before the program has installed its handlers, SIGTERM would end it.
    await runtime.stop('a', 0)
    expect((await runtime.watch('a')).reason).toMatch(/^killed by signal SIG(KILL|TERM)$/)
  })

  test('a crash carries the line that explains it', async ({ expect }) => {
    await runtime.start(makeWorkload({ id: 'a', image: 'builtin/echo' }), hooks)
    expect(await runtime.watch('a')).toMatchObject({
      exitCode: 1,
      reason: 'exited with code 1: Error: RUNPOD_WEBHOOK_GET_JOB is not set; this built-in image runs as a serverless worker only',
    })
  })

  test('a second instance adopts a running process and reads its exit code', async ({ expect }) => {
    await runtime.start(makeWorkload({ id: 'a' }), hooks)
    await outputOf('a', /idle: running/)
    const second = open()
    expect(await second.list()).toMatchObject([{ id: 'a', phase: 'running' }])
    const exit = second.watch('a')
    await second.stop('a', 5_000)
    expect(await exit).toMatchObject({ exitCode: 0, reason: 'exited with code 0' })
  })

  test('[LSE-21] a process killed without a running agent and without an exit code ended with its host; one seen to be killed did not', async ({
    expect,
  }) => {
    await runtime.start(makeWorkload({ id: 'a' }), hooks)
    const pid = Number(JSON.parse(readFileSync(join(dir, 'a', 'process.json'), 'utf8')).pid)
    process.kill(pid, 'SIGKILL')
    const seen = await runtime.watch('a')
    expect([seen.reason, seen.byHost]).toEqual(['killed by signal SIGKILL', undefined])
    const second = open()
    expect(await second.list()).toMatchObject([{ id: 'a', phase: 'ended' }])
    expect(await second.watch('a')).toMatchObject({ exitCode: null, reason: 'killed while no agent ran on its host', byHost: true })
  })

  test('[HOST-7] the child gets its own home and what built-in programs read, nothing of the agent and nothing that Node or the linker obeys', async ({
    expect,
  }) => {
    process.env.AGENT_SECRET = 'do-not-pass'
    const hostile = { NODE_OPTIONS: '--import=data:text/javascript,process.exit(9)', LD_PRELOAD: '/x.so', PATH: '/evil', HOME: '/root' }
    await runtime.start(makeWorkload({ id: 'a', env: { PROBE_CONCURRENCY: '2', ...hostile }, platformEnv: workerEnv('ep', 'w') }), hooks)
    const pid = Number(JSON.parse(readFileSync(join(dir, 'a', 'process.json'), 'utf8')).pid)
    const env = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').filter(Boolean)
    const names = env.map((entry) => entry.split('=')[0]).toSorted()
    expect(names).toEqual(['HOME', 'PROBE_CONCURRENCY', 'PATH', 'TMPDIR', ...Object.keys(workerEnv('ep', 'w'))].toSorted())
    expect(env).not.toContain('PATH=/evil')
    expect(env).not.toContain('HOME=/root')
    expect(env.find((entry) => entry.startsWith('RUNPOD_WEBHOOK_PING='))).toContain('=http://127.0.0.1:9/v2/ep/ping/')
  })

  test('[HOST-5] an unknown built-in image is refused with the known ones', async ({ expect }) => {
    await expect(runtime.start(makeWorkload({ id: 'a', image: 'builtin/x' }), hooks)).rejects.toThrow(
      'unknown built-in image builtin/x; known: builtin/echo, builtin/idle, builtin/probe',
    )
  })
})

test('a process name with spaces and brackets does not shift the start time; a zombie has none', ({ expect }) => {
  const fields = 'S 1 42 42 0 -1 4194560 100 0 0 0 1 2 0 0 20 0 11 0 987654 1000 200'
  expect(parseProcStat(`42 (a) b (c) ${fields}`)).toBe('987654')
  expect(parseProcStat(`42 (node) ${fields.replace('S', 'Z')}`)).toBeUndefined()
})
