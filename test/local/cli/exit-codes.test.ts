import { EXIT, EXIT_CODES } from '../../../src/cli/core/exit-codes.ts'
import { afterEach, describe, expect, it } from '../../support/unit.ts'
import { podplane, type Routes, ToyPlane } from './terminal.ts'

const problem = (status: number, detail: string, more: object = {}) => ({ status, body: { title: 'Refused', status, detail, ...more } })
const ID = 'a1b2c3d4e5f6g7'
const POD = { id: 'p1', name: 'box', status: 'RUNNING', statusReason: null, ports: [], cost: 1 }

let plane: ToyPlane | undefined
const at = async (routes: Routes) => (plane = await ToyPlane.open(routes))
afterEach(async () => {
  await plane?.close()
  plane = undefined
})

describe('exit codes', () => {
  it('[CMD-2] are one table, which help prints', async () => {
    const { stdout, code } = await podplane(['help', 'exit-codes'])
    expect(code).toBe(0)
    for (const { code: one, meaning } of EXIT_CODES) expect(stdout).toContain(`${String(one).padStart(5)}  ${meaning}\n`)
  })

  it('[CMD-2] 0: done', async () => {
    expect(await podplane(['pods', 'get', 'p1', '-q'], { plane: await at({ 'GET /v2/pods/p1': { body: POD } }) })).toEqual({
      code: EXIT.OK,
      stdout: 'p1\n',
      stderr: '',
    })
    expect((await podplane(['--help'])).code).toBe(EXIT.OK)
  })

  it('[CMD-2] 1: a job that has FAILED', async () => {
    const job = { id: 'j1', status: 'FAILED', error: 'the worker raised ValueError' }
    const ran = await podplane(['jobs', 'watch', 'e1', 'j1'], { plane: await at({ 'GET /v2/e1/status-sync/j1': { body: job } }) })
    expect(ran).toEqual({ code: EXIT.BAD_OUTCOME, stdout: '', stderr: 'error: job j1 is FAILED: the worker raised ValueError\n' })
  })

  it('[CMD-2] 2: a command line that is wrong', async () => {
    for (const [argv, command] of [
      [['pods', 'lst'], 'podplane pods'],
      [['pod', 'get'], 'podplane pods get'],
      [['--url', 'http://127.0.0.1:1', 'pods', 'list', '--nope'], 'podplane pods list'],
      [['pods', 'list', '--timeout', 'soon'], 'podplane pods list'],
      [['nothing'], 'podplane'],
    ] as const) {
      const { code, stderr } = await podplane([...argv])
      expect({ argv, code }).toEqual({ argv, code: EXIT.USAGE })
      expect(stderr).toMatch(new RegExp(`^error: .+\\n {2}see ${command} --help\\n$`, 's'))
    }
  })

  it('[CMD-2] 2: a noun without a verb, with its help on stderr', async () => {
    const { code, stdout, stderr } = await podplane(['pods'])
    expect({ code, stdout }).toEqual({ code: EXIT.USAGE, stdout: '' })
    expect(stderr).toContain('Usage: podplane pods')
  })

  it('[CMD-2] 3: no key, and a key that is not good', async () => {
    const refused = await at({ 'GET /v2/pods': problem(401, 'invalid bearer token') })
    expect((await podplane(['pods', 'list'], { plane: refused })).code).toBe(EXIT.NOT_ALLOWED)
    const without = await podplane(['pods', 'list'], { env: { PODPLANE_URL: refused.url } })
    expect(without.stderr).toBe(`error: no key for ${refused.url}\n  podplane auth login --url ${refused.url}, or set PODPLANE_API_KEY\n`)
    expect(without.code).toBe(EXIT.NOT_ALLOWED)
  })

  it('[CMD-2] 4: no such resource', async () => {
    const ran = await podplane(['pods', 'get', ID], { plane: await at({}) })
    expect(ran).toEqual({
      code: EXIT.NOT_FOUND,
      stdout: '',
      stderr: 'error: pod not found (request req_1)\n  podplane pods list shows the existing ones\n',
    })
  })

  it('[CMD-2] 5: refused in the present state', async () => {
    for (const status of [400, 409, 412, 422]) {
      const one = await ToyPlane.open({ 'POST /v2/pods/p1/action': problem(status, 'it is locked') })
      expect((await podplane(['pods', 'stop', 'p1'], { plane: one })).code).toBe(EXIT.REFUSED)
      await one.close()
    }
  })

  it('[CMD-2] 6: no capacity, a quota, a rate limit', async () => {
    const plane = await at({
      'POST /v2/pods': problem(409, 'no host has room', { code: 'NO_CAPACITY' }),
      'GET /v2/pods': { ...problem(429, 'rate limit exceeded'), headers: { 'retry-after': '90' } },
    })
    expect((await podplane(['pods', 'create', '--image', 'x', '--gpu', 'NVIDIA L4'], { plane })).code).toBe(EXIT.NO_CAPACITY)
    const limited = await podplane(['pods', 'list', '--json'], { plane })
    expect({ code: limited.code, error: JSON.parse(limited.stderr) }).toMatchObject({
      code: EXIT.NO_CAPACITY,
      error: { retryable: true, retryAfter: 90, exitCode: EXIT.NO_CAPACITY },
    })
  })

  it('[CMD-2, CMD-3, CMD-4] 7: the wait timed out; the billed resource is named, and stderr has the reason', async () => {
    const waiting = { ...POD, status: 'PROVISIONING', statusReason: 'no host has 1 free NVIDIA L4' }
    const plane = await at({ 'POST /v2/pods': { status: 201, body: waiting }, 'GET /v2/pods/p1': { body: waiting } })
    const ran = await podplane(['pods', 'create', '--image', 'x', '--gpu', 'NVIDIA L4', '--wait', '--timeout', '100ms', '--json'], {
      plane,
    })
    const [why, error] = ran.stderr.trimEnd().split('\n')
    expect(why).toBe('PROVISIONING: no host has 1 free NVIDIA L4')
    expect({ code: ran.code, error: JSON.parse(String(error)) }).toMatchObject({
      code: EXIT.TIMED_OUT,
      error: { code: 'wait_timeout', retryable: true, exitCode: EXIT.TIMED_OUT, resource: 'pod p1' },
    })
  })

  it('[CMD-2] 7: --timeout of a command that does not wait by itself', async () => {
    const plane = await at({ 'GET /v2/pods': { ...problem(503, 'later'), headers: { 'retry-after': '20' } } })
    expect(await podplane(['pods', 'list', '--timeout', '50ms'], { plane })).toEqual({
      code: EXIT.TIMED_OUT,
      stdout: '',
      stderr: 'error: not done within 0s\n',
    })
  })

  it('[CMD-2] 8: no answer, or no known plane', async () => {
    const closed = await ToyPlane.open({})
    const gone = { url: closed.url }
    await closed.close()
    const ran = await podplane(['pods', 'list', '--json'], { plane: gone })
    expect({ code: ran.code, error: JSON.parse(ran.stderr) }).toMatchObject({
      code: EXIT.UNREACHABLE,
      error: { code: 'network_error', retryable: true },
    })
    const ill = await podplane(['pods', 'list'], { plane: await at({ 'GET /v2/pods': problem(500, 'an unexpected error occurred') }) })
    expect(ill.code).toBe(EXIT.UNREACHABLE)
    const nowhere = await podplane(['pods', 'list'])
    expect(nowhere.code).toBe(EXIT.UNREACHABLE)
    expect(nowhere.stderr).toContain('npm start')
  })

  it('[CMD-2] 130: Ctrl-C', async () => {
    const stop = new AbortController()
    const plane = await at({
      'GET /v2/pods/p1': () => {
        stop.abort()
        return { body: { ...POD, status: 'STARTING' } }
      },
    })
    expect((await podplane(['pods', 'wait', 'p1'], { plane, interrupted: stop.signal })).code).toBe(EXIT.INTERRUPTED)
  })

  it('[CMD-3] errors are one object with --json: the problem and the next step', async () => {
    const plane = await at({ 'PATCH /v2/pods/p1': problem(422, 'Request validation failed.', { errors: ['$.disk: too small'] }) })
    const { stderr, stdout } = await podplane(['pods', 'update', 'p1', '--body', '{"disk":0}', '--json'], { plane })
    expect({ stdout, error: JSON.parse(stderr) }).toEqual({
      stdout: '',
      error: {
        status: 422,
        title: 'Refused',
        detail: 'Request validation failed: $.disk: too small',
        errors: ['$.disk: too small'],
        code: 'http_422',
        retryable: false,
        requestId: 'req_1',
        exitCode: EXIT.REFUSED,
      },
    })
  })

  it('[CMD-5] there is no prompt without a terminal, and the error names the flag', async () => {
    const plane = await at({ [`DELETE /v2/pods/${ID}`]: { status: 204 } })
    const asked = await podplane(['pods', 'delete', ID], { plane })
    expect(asked).toMatchObject({ code: EXIT.USAGE, stdout: '' })
    expect(asked.stderr).toContain('add --yes')
    expect(plane.asked).toEqual([])
    expect(await podplane(['pods', 'delete', ID, '--yes'], { plane })).toMatchObject({ code: EXIT.OK, stdout: `${ID}\n` })
  })

  it('[CMD-5] a create whose answer is lost is sent again under the same key', async () => {
    const plane = await at({ 'POST /v2/pods': (_asked, count) => (count < 3 ? { drop: true } : { status: 201, body: POD }) })
    const ran = await podplane(['pods', 'create', '--image', 'x', '--gpu', 'NVIDIA L4', '-q'], { plane })
    expect(ran).toEqual({ code: 0, stdout: 'p1\n', stderr: '' })
    expect(new Set(plane.asked.map(({ idempotencyKey }) => idempotencyKey))).toEqual(new Set([expect.stringMatching(/.{16}/)]))
    expect(plane.asked).toHaveLength(3)
  })
})
