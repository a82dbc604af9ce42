import { execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PROJECT_ROOT } from '../../../src/local/paths.ts'
import { BUILD_TIMEOUT_MS, pythonWorkerImage } from '../support/agent/worker-image.ts'
import { startFlakyProxy } from '../support/plane/flaky-proxy.ts'
import { callPlane, eventually, hostIsOnline, startPlane, type TestPlane } from '../support/plane/plane.ts'

// The command line as users have it: the built program, against a plane with an agent and real containers.

const PROGRAM = join(PROJECT_ROOT, 'dist/podplane.mjs')
const directory = mkdtempSync(join(tmpdir(), 'podplane-e2e-cli-'))

interface Ran {
  code: number
  stdout: string
  stderr: string
}

let plane: TestPlane
let image = ''
beforeAll(async () => {
  image = await pythonWorkerImage(join(import.meta.dirname, '../support/ingress'))
  // Simulated capacity, because the machine of a test may have no GPU.
  plane = await startPlane({ args: ['--simulate-gpus', 'NVIDIA L4:2'] })
  await hostIsOnline(plane)
}, BUILD_TIMEOUT_MS)
afterAll(async () => {
  await plane?.stop()
  rmSync(directory, { recursive: true, force: true })
})

function environment(more: Record<string, string> = {}): Record<string, string> {
  return { PATH: process.env.PATH ?? '', HOME: directory, PODPLANE_DATA: plane.dataDir, ...more }
}

function podplane(
  argv: readonly string[],
  { stdin = '', env = {} }: { stdin?: string | Buffer; env?: Record<string, string> } = {},
): Promise<Ran> {
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [PROGRAM, ...argv],
      { cwd: directory, env: environment(env), encoding: 'utf8' },
      (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr })
      },
    )
    child.stdin?.end(stdin)
  })
}

async function said(...argv: string[]): Promise<string> {
  const { code, stdout, stderr } = await podplane(argv)
  expect({ argv, code, stderr: code === 0 ? '' : stderr }).toEqual({ argv, code: 0, stderr: '' })
  return stdout.trim()
}

describe('podplane', () => {
  test('[CMD-4, CMD-17, CMD-30, CMD-31, CMD-32, CMD-33] the life of a pod: created until usable, entered, copied to and from, stopped, deleted', async () => {
    const script = 'print("serving", flush=True); import http.server as h; h.test(h.SimpleHTTPRequestHandler, port=8888)'
    const made = await podplane([
      'pods',
      'create',
      '--image',
      image,
      '--name',
      'box',
      '--cpu',
      'cpu3c',
      '--disk',
      '1',
      '-p',
      '8888/http',
      '--wait',
      '--',
      'python3',
      '-c',
      script,
    ])
    expect(made).toMatchObject({ code: 0, stderr: expect.stringContaining('is usable after') })
    const id = made.stdout.trim()
    // A usable pod answers at its port, with no further wait.
    expect((await fetch(`${plane.url}/proxy/${id}/8888/`)).status).toBe(200)

    const ran = await podplane(['exec', id, '--', 'sh', '-c', 'echo out; echo err >&2; exit 7'])
    expect(ran).toEqual({ code: 7, stdout: 'out\n', stderr: 'err\n' })
    const bytes = randomBytes(3 * 2 ** 20)
    expect(await podplane(['exec', '-i', id, '--', 'sh', '-c', 'wc -c; printf %s "$0"', 'a b'], { stdin: bytes })).toMatchObject({
      code: 0,
      stdout: `${bytes.length}\na b`,
    })
    expect(await said('exec', 'box', '--', 'echo', 'by name')).toBe('by name')
    expect(await podplane(['ssh', id, '--', 'true'])).toMatchObject({ code: expect.any(Number) })

    const up = join(directory, `it's "here"`)
    mkdirSync(join(up, 'inner'), { recursive: true })
    writeFileSync(join(up, 'inner/blob'), bytes)
    await said('cp', up, `${id}:/tmp/there`)
    expect(await said('exec', id, '--', 'stat', '-c', '%s', '/tmp/there/inner/blob')).toBe(String(bytes.length))
    await said('cp', `${id}:/tmp/there/inner/blob`, join(directory, 'down'))
    expect(readFileSync(join(directory, 'down')).equals(bytes)).toBe(true)
    const missing = await podplane(['cp', `${id}:/nowhere`, join(directory, 'none')])
    expect(missing).toMatchObject({ code: 1, stderr: 'error: /nowhere: no such file or directory\n' })

    const forward = spawn(process.execPath, [PROGRAM, 'port-forward', id, '0:8888'], { cwd: directory, env: environment() })
    let heard = ''
    forward.stdout.on('data', (part: Buffer) => (heard += part.toString()))
    const address = await eventually('it listens', 10_000, async () => /^(127\.0\.0\.1:\d+)\t/.exec(heard)?.[1])
    expect(await (await fetch(`http://${address}/`)).text()).toContain('Directory listing')
    const ended = new Promise((resolve) => forward.once('exit', resolve))
    forward.kill('SIGINT')
    expect(await ended).toBe(130)

    expect(await said('logs', id, '-g', 'SERVING')).toMatch(/\tcontainer\tserving$/)
    expect(await said('pods', 'why', id)).toContain('RUNNING')
    await said('pods', 'stop', id, '--wait')
    const stopped = await podplane(['exec', id, '--', 'true'])
    expect(stopped).toMatchObject({ code: 5 })
    await said('pods', 'delete', id, '--yes')
    expect(await podplane(['pods', 'get', id])).toMatchObject({ code: 4, stdout: '' })
  })

  test('[CMD-2, CMD-4, CMD-19] jobs: run, tried, watched, streamed, cancelled', async () => {
    const endpoint = plane.endpointId
    expect(await said('run', endpoint, '{"prompt":"Hello"}', '--wait')).toContain('"prompt": "Hello"')
    expect(await podplane(['endpoints', 'try', 'echo', '{"n":0}', '--json', 'job.status'])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('COMPLETED'),
    })
    const job = await said('jobs', 'run', endpoint, '{"n":1}', '-q')
    expect(JSON.parse(await said('jobs', 'watch', endpoint, job, '--json'))).toMatchObject({
      id: job,
      status: 'COMPLETED',
      output: { n: 1 },
    })
    expect(await said('jobs', 'list', endpoint, '-q')).toContain(job)
    await said('endpoints', 'scale', endpoint, '--max', '0')
    const waiting = await said('jobs', 'run', endpoint, '{"n":2}', '-q')
    const late = await podplane(['jobs', 'watch', endpoint, waiting, '--timeout', '1s'])
    expect(late).toMatchObject({ code: 7, stdout: '', stderr: expect.stringContaining('IN_QUEUE: ') })
    expect(await said('jobs', 'cancel', endpoint, '--status', 'IN_QUEUE', '--plan')).toBe(waiting)
    expect(JSON.parse(await said('jobs', 'cancel', 'echo', '--status', 'IN_QUEUE', '--yes', '--json', 'changed'))).toEqual({ changed: 1 })
    expect(await podplane(['jobs', 'watch', endpoint, waiting])).toMatchObject({ code: 1 })
    await said('endpoints', 'scale', endpoint, '--max', '3')
  })

  test('[S1] [CAP-10] a podplane.toml grants no new secret with a key that may not read it, and keeps the existing grants', async () => {
    const file = join(directory, 'secrets.toml')
    const write = (name: string, more = '') =>
      writeFileSync(file, `[templates.${name}]\nimage = "builtin/echo"\nenv = { TOKEN = "{{ RUNPOD_SECRET_TOPA }}" }\n${more}`)
    const templates = () => callPlane<{ templates: { name: string; disk: number }[] }>(plane, plane.apiKey, 'GET', '/v2/templates')
    const { users } = await callPlane<{ users: { id: string }[] }>(
      plane,
      plane.operatorKey,
      'GET',
      '/admin/v1/users?email=demo@podplane.local',
    )
    const scopes = ['pods', 'serverless', 'templates', 'volumes'].flatMap((word) => [`${word}:read`, `${word}:write`])
    const { key } = await callPlane<{ key: string }>(plane, plane.operatorKey, 'POST', `/admin/v1/users/${users[0]?.id}/keys`, {
      name: 'ci',
      permission: 'RESTRICTED',
      scopes,
    })
    const deploy = (...flags: string[]) =>
      podplane(['deploy', '-f', file, ...flags], { env: { PODPLANE_API_KEY: key, PODPLANE_URL: plane.url } })
    await callPlane(plane, plane.apiKey, 'POST', '/v2/account/secrets', { name: 'TOPA', value: 'canary-topa' })
    write('granted')
    await said('deploy', '-f', file, '--yes')
    const before = await templates()

    write('stolen')
    const { code, stdout, stderr } = await deploy('--yes')
    expect(code).not.toBe(0)
    expect(stderr).toContain('a reference to the secret TOPA requires the scope account:read')
    expect(stdout + stderr).not.toContain('canary-topa')
    expect(await templates()).toEqual(before)

    write('granted', 'disk = 7\n')
    expect(await deploy('--yes')).toMatchObject({ code: 0 })
    expect((await templates()).templates.find(({ name }) => name === 'granted')).toMatchObject({
      disk: 7,
      env: { TOKEN: '{{ RUNPOD_SECRET_TOPA }}' },
    })
  })

  test('[CMD-20, CMD-21, CMD-22, CMD-4] a podplane.toml is planned, deployed until it works, changed, and left alone when unchanged', async () => {
    const toml = (max: number) => `[templates.base]
image = "builtin/echo"
serverless = true
[endpoints.hello]
templateId = "templates.base"
cpu = [{ id = "cpu3c", vcpuCount = 2 }]
workers = { max = ${max} }
[endpoints.hello.smoke]
input = { prompt = "Hello" }
timeout = "60s"
`
    writeFileSync(join(directory, 'podplane.toml'), toml(2))
    const before = await said('endpoints', 'list', '-q')
    const plan = JSON.parse(await said('deploy', '--plan', '--json')) as {
      applied: boolean
      steps: { action: string; usdPerHour: number | null }[]
    }
    expect(plan).toMatchObject({ applied: false, steps: [{ action: 'create' }, { action: 'create', usdPerHour: expect.any(Number) }] })
    expect(await said('endpoints', 'list', '-q')).toBe(before)
    await said('deploy', '--yes', '--wait')
    expect(await said('deploy', '--plan')).toMatch(/^keep\ttemplate\tbase\t\w+\t\nkeep\tendpoint\thello\t/)
    writeFileSync(join(directory, 'podplane.toml'), toml(4))
    expect((await said('deploy', '--plan')).split('\n').map((line) => line.split('\t')[0])).toEqual(['keep', 'update'])
    await said('deploy', '--yes')
    const { endpoints } = await callPlane<{ endpoints: { name: string; workers: { max: number } }[] }>(
      plane,
      plane.apiKey,
      'GET',
      '/v2/serverless',
    )
    expect(endpoints.filter(({ name }) => name === 'hello')).toMatchObject([{ workers: { max: 4 } }])
  })

  test('[CMD-5, CMD-47, CMD-48] behind a slow proxy that loses the first answer to everything and breaks streams, each verb acts once and reports it', async () => {
    const proxy = await startFlakyProxy(plane.url, 30)
    const env = { PODPLANE_URL: proxy.url, PODPLANE_API_KEY: plane.apiKey }
    const behind = (...argv: string[]) => podplane(argv, { env })
    const unsure = (what: string) => ({
      code: 8,
      stdout: '',
      stderr: expect.stringContaining(`it is unknown whether ${what} was carried out`),
    })
    const made = await behind('pods', 'create', '--image', 'builtin/idle', '--name', 'once', '--cpu', 'cpu3c', '-q')
    expect(made).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\w+\n$/) })
    const id = made.stdout.trim()
    const { pods } = await callPlane<{ pods: { id: string; name: string }[] }>(plane, plane.apiKey, 'GET', '/v2/pods')
    expect(pods.filter(({ name }) => name === 'once').map((pod) => pod.id)).toEqual([id])

    // Reads and waits are retried.
    expect(await behind('pods', 'list', '-q')).toMatchObject({ code: 0, stdout: expect.stringContaining(id) })
    expect(await behind('pods', 'wait', id)).toMatchObject({ code: 0 })
    expect(await behind('pods', 'get', id, '--json', 'name')).toMatchObject({ code: 0, stdout: expect.stringContaining('once') })

    // A followed log continues after the break: no line twice, none missing.
    const following = spawn(process.execPath, [PROGRAM, 'logs', id, '-f', '--source', 'container'], {
      cwd: directory,
      env: environment(env),
    })
    let heard = ''
    following.stdout.on('data', (part: Buffer) => (heard += part.toString()))
    await eventually(
      'the stream broke off and has gone on',
      20_000,
      async () => proxy.broken.length > 0 && heard.includes('running until SIGTERM'),
    )
    following.kill('SIGINT')
    expect(await new Promise((resolve) => following.once('exit', resolve))).toBe(130)
    expect(heard.match(/running until SIGTERM/g)).toHaveLength(1)

    // A request that is not safe to retry is not retried: the program reports an unknown outcome, and a read shows it.
    expect(await behind('pods', 'update', id, '--body', '{"name":"renamed"}')).toMatchObject(unsure(`PATCH /v2/pods/${id}`))
    expect(await behind('pods', 'get', id, '--json', 'name')).toMatchObject({ code: 0, stdout: expect.stringContaining('renamed') })
    // A pod of a built-in image takes no commands.
    expect(await podplane(['exec', id, '--', 'true'])).toMatchObject({ code: 5, stderr: expect.stringContaining('built-in image') })
    expect(await behind('pods', 'stop', id)).toMatchObject(unsure(`POST /v2/pods/${id}/action`))
    expect(await behind('pods', 'stop', id)).toMatchObject({ code: 5, stderr: expect.stringContaining('EXITED') })

    // A job is accepted once, whichever part of the exchange was lost.
    const job = await behind('run', plane.endpointId, '{"n":3}', '--wait', '--json', 'status')
    expect(job).toMatchObject({ code: 0, stdout: expect.stringContaining('COMPLETED') })

    // 404 after a lost answer: this very command deleted the pod.
    expect(await behind('pods', 'delete', id, '--yes')).toMatchObject({ code: 0 })
    expect(proxy.lost).toEqual(expect.arrayContaining(['POST /v2/pods', 'GET /v2/pods', `GET /v2/pods/${id}`, `DELETE /v2/pods/${id}`]))
    await proxy.close()
  })

  test('[CMD-34] dev: a worker of the public SDK is built, run and tried', async () => {
    const cwd = join(directory, 'dev')
    mkdirSync(cwd)
    await said('init', 'worker', '-f', join(cwd, 'podplane.toml'))
    for (const name of ['handler.py', 'Dockerfile']) rmSync(join(directory, name))
    const handler = 'import runpod\nrunpod.serverless.start({"handler": lambda job: {"greeting": f"Hello, {job[\'input\'][\'name\']}!"}})\n'
    writeFileSync(join(cwd, 'handler.py'), handler)
    writeFileSync(join(cwd, 'Dockerfile'), `FROM ${image}\nCOPY handler.py /handler.py\nCMD ["python3", "-u", "/handler.py"]\n`)
    expect(JSON.parse(await said('dev', '--once', '-f', join(cwd, 'podplane.toml'), '--json'))).toMatchObject({
      status: 'COMPLETED',
      output: { greeting: 'Hello, podplane!' },
    })
    await said('endpoints', 'delete', 'worker-dev', '--yes')
  })

  test('[CMD-9, CMD-40] doctor finds nothing wrong here', async () => {
    const { checks } = JSON.parse(await said('doctor', '--json')) as { checks: { id: string; status: string }[] }
    expect(checks.filter(({ status }) => status === 'fail')).toEqual([])
    for (const id of ['job', 'version']) expect(checks.find((check) => check.id === id)).toMatchObject({ status: 'ok' })
  })
})
