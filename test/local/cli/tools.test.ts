import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CLI_VERSION } from '../../../src/cli/core/version.ts'
import { buildProgram } from '../../../src/cli/program.ts'
import { candidatesFor } from '../../../src/cli/tools/complete.ts'
import { agentCommand } from '../../../src/client/agent-command.ts'
import { afterEach, describe, expect, it } from '../../support/unit.ts'
import { podplane, type Routes, ToyPlane } from './terminal.ts'

const LAST = { nextCursor: null, hasNextPage: false }
const POD = { id: 'p1', name: 'box', status: 'RUNNING', statusReason: null, ports: [], cost: 1 }
const homes: string[] = []
let plane: ToyPlane | undefined
const at = async (routes: Routes) => (plane = await ToyPlane.open(routes))
const makeHome = () => {
  const home = mkdtempSync(join(tmpdir(), 'podplane-home-'))
  homes.push(home)
  return home
}
afterEach(async () => {
  await plane?.close()
  plane = undefined
  for (const home of homes.splice(0)) rmSync(home, { recursive: true, force: true })
})

describe('podplane auth and context', () => {
  it('[CMD-6] a key comes from stdin, is tried, and is kept for its context alone', async () => {
    const home = makeHome()
    await at({
      'GET /v2/user': ({ key }) => (key === 'pp_good' ? { body: { id: 'u1' } } : { status: 401, body: { detail: 'invalid bearer token' } }),
    })
    const url = (plane as ToyPlane).url
    const login = ['auth', 'login', '--url', url, '--with-key', '--name', 'lab']
    expect((await podplane(login, { home, stdin: 'pp_bad\n' })).code).toBe(3)
    expect((await podplane(login, { home, stdin: 'rpa_foreign\n' })).code).toBe(2)
    const kept = await podplane(login, { home, stdin: 'pp_good\n' })
    expect({ code: kept.code, key: (kept.stdout + kept.stderr).includes('pp_good') }).toEqual({ code: 0, key: false })
    expect(statSync(join(home, '.config/podplane/credentials.json')).mode & 0o777).toBe(0o600)
    expect(JSON.parse((await podplane(['auth', 'status', '--json'], { home })).stdout)).toEqual({
      url,
      context: 'lab',
      source: 'context lab',
      keySource: 'credentials.json (lab)',
      user: { id: 'u1' },
    })
    expect((await podplane(['auth', 'token'], { home })).stdout).toBe('pp_good\n')
    expect((await podplane(['auth', 'logout'], { home })).code).toBe(0)
    expect((await podplane(['auth', 'token'], { home })).code).toBe(3)
  })

  it('[CMD-14] shows a code, waits until a user approves the device, and stores the key without showing it', async () => {
    const home = makeHome()
    const started = {
      device_code: 'd1',
      user_code: 'WDJB-MJHT',
      verification_uri: 'x',
      verification_uri_complete: 'https://x/device?code=WDJB-MJHT',
      expires_in: 900,
      interval: 0,
    }
    const pending = {
      status: 400,
      body: { error: 'authorization_pending', code: 'authorization_pending', error_description: '', interval: 0 },
    }
    const toy = await at({
      'POST /console/device': { body: started },
      'POST /console/device/token': (_asked, count) =>
        count < 3 ? pending : { body: { access_token: 'pp_device', token_type: 'Bearer', key_id: 'k', account_id: 'a' } },
      'GET /v2/user': ({ key }) => (key === 'pp_device' ? { body: { id: 'u1' } } : { status: 401 }),
    })
    const { code, stdout, stderr } = await podplane(['auth', 'login', '--url', toy.url], { home })
    expect({ code, shown: stderr.includes('https://x/device?code=WDJB-MJHT'), key: (stdout + stderr).includes('pp_device') }).toEqual({
      code: 0,
      shown: true,
      key: false,
    })
    expect((await podplane(['auth', 'token'], { home })).stdout).toBe('pp_device\n')
  })

  it('[CMD-14] reports a refusal, and the next step where a plane does not offer device sign-in', async () => {
    const refused = await at({
      'POST /console/device': { body: { device_code: 'd1', user_code: 'A', verification_uri_complete: 'x', interval: 0 } },
      'POST /console/device/token': { status: 400, body: { error: 'access_denied', code: 'access_denied' } },
    })
    expect(await podplane(['auth', 'login', '--url', refused.url])).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('the sign-in of this device was denied'),
    })
    await refused.close()
    const old = await at({})
    expect(await podplane(['auth', 'login', '--url', old.url])).toMatchObject({ code: 3, stderr: expect.stringContaining('--with-key') })
  })

  it('[CMD-6] contexts are set, used, listed and removed; a new address does not inherit the previous key', async () => {
    const home = makeHome()
    const run = async (...argv: string[]) => await podplane(['context', ...argv], { home })
    await run('set', 'lab', 'https://lab.example.com')
    await run('set', 'prod', 'https://plane.example.com')
    expect((await run('list')).stdout).toBe('lab\thttps://lab.example.com\ttrue\tfalse\nprod\thttps://plane.example.com\tfalse\tfalse\n')
    await run('use', 'prod')
    expect((await run('show', '--json', 'url')).stdout).toContain('https://plane.example.com')
    expect((await run('use', 'nope')).code).toBe(4)
    await run('delete', 'prod')
    expect((await run('list', '-q')).stdout).toBe('lab\n')
  })
})

describe('podplane env', () => {
  it('[CMD-42] prints the settings of each client as in docs/clients.md, quoted for a shell', async () => {
    const env = { PODPLANE_URL: 'http://127.0.0.1:8787', PODPLANE_API_KEY: "pp_it's" }
    const document = readFileSync('docs/clients.md', 'utf8')
    for (const [name, row] of [
      ['python', 'Python SDK'],
      ['runpodctl', 'runpodctl 2'],
      ['flash', 'flash'],
      ['terraform', 'Terraform provider'],
    ] as const) {
      const { stdout } = await podplane(['env', '--for', name], { env })
      const script = `${stdout}\nenv`
      const variables = execFileSync('sh', ['-c', script], { encoding: 'utf8' }).split('\n')
      expect(variables).toContain("RUNPOD_API_KEY=pp_it's")
      const [, names = '', values = ''] =
        document
          .split('\n')
          .find((line) => line.startsWith(`| ${row}`))
          ?.split(' | ') ?? []
      const named = [...names.matchAll(/`(\w+)`/g)].map((match) => match[1])
      expect(named.length).toBeGreaterThan(0)
      const said = named.map((one) => variables.find((line) => line.startsWith(`${one}=`)) ?? `${one} is missing`)
      if (!values.includes('then'))
        expect(said).toEqual(named.map((one, index) => `${one}=${[...values.matchAll(/`([^`]+)`/g)][index]?.[1]}`))
      else expect(said.join(' ')).not.toContain('is missing')
    }
    const mcp = JSON.parse((await podplane(['env', '--for', 'mcp'], { env: { ...env, PODPLANE_API_KEY: '<key>' } })).stdout) as object
    expect(document.replaceAll(/\s/g, '')).toContain(
      JSON.stringify(mcp)
        .replaceAll(/\s/g, '')
        .replace(
          '{"mcpServers":{"podplane":{"command":"npx","args":["-y","@runpod/mcp-server@4.0.0"],',
          '"args":["-y","@runpod/mcp-server@4.0.0"],',
        ),
    )
    expect((await podplane(['env', '--for', 'openai'], { env })).code).toBe(2)
    expect((await podplane(['env', '--for', 'openai', '--endpoint', 'e1b2c3d4e5f6g7'], { env })).stdout).toContain(
      "OPENAI_BASE_URL='http://127.0.0.1:8787/v2/e1b2c3d4e5f6g7/openai/v1'",
    )
  })
})

describe('podplane doctor', () => {
  const HEALTHY: Routes = {
    'GET /healthz': { body: { status: 'ok' } },
    'GET /v2/user': { body: { id: 'u1' } },
    'GET /v2/account/ssh-keys': { body: { keys: ['ssh-ed25519 AAAA me'] } },
  }

  it('[CMD-40] checks everything, prints the results, and shows no key', async () => {
    const { code, stdout, stderr } = await podplane(['doctor', '--json'], { plane: await at(HEALTHY) })
    const { checks } = JSON.parse(stdout) as { checks: { id: string; status: string }[] }
    expect(checks.map(({ id }) => id)).toEqual([
      'node',
      'context',
      'plane',
      'version',
      'clock',
      'key',
      'websocket',
      'ssh-keys',
      'ssh',
      'job',
    ])
    expect(checks.filter(({ status }) => status === 'fail')).toEqual([])
    expect({ code, key: (stdout + stderr).includes('pp_key') }).toEqual({ code: 0, key: false })
  })

  it('[CMD-40] exits with 1 when a check fails, and skips checks that depend on it', async () => {
    const bad = await podplane(['doctor', '--json', 'id,status'], {
      plane: await at({ ...HEALTHY, 'GET /v2/user': { status: 401, body: { detail: 'invalid bearer token' } } }),
    })
    expect(bad.code).toBe(1)
    expect(JSON.parse(bad.stdout)).toContainEqual({ id: 'key', status: 'fail' })
    const nowhere = await podplane(['doctor', '--json', 'id,status'])
    expect(nowhere.code).toBe(1)
    const states = JSON.parse(nowhere.stdout) as { id: string; status: string }[]
    expect(states.filter(({ status }) => status === 'skip').map(({ id }) => id)).toEqual([
      'plane',
      'version',
      'clock',
      'key',
      'websocket',
      'ssh-keys',
      'job',
    ])
  })
})

describe('completion', () => {
  const words = (before: string[], begun: string) => candidatesFor(buildProgram(), before, begun)?.map(({ word }) => word)

  it('[CMD-8] of commands and flags', () => {
    expect(words([], 'po')).toContain('pods')
    expect(words([], '')).not.toContain('__complete')
    expect(words(['pod'], '')).toContain('stop-after')
    expect(words(['pods', 'list'], '--')).toEqual(expect.arrayContaining(['--all', '--json', '--context']))
    expect(words(['pods', 'get'], '')).toBeUndefined()
  })

  it('[CMD-8] of ids and names, from the API once in 30 s; errors are silent', async () => {
    const home = makeHome()
    await at({
      'GET /v2/pods': {
        body: { pods: [POD, { ...POD, id: 'q2', name: 'other' }, { ...POD, id: 'q3', name: 'two words' }], pagination: LAST },
      },
    })
    const run = async (target: Pick<ToyPlane, 'url'>, begun = 'p') =>
      await podplane(['__complete', '--', 'pods', 'get', begun], { plane: target, home, env: {} })
    const toy = plane as ToyPlane
    expect([await run(toy), await run(toy)]).toEqual(Array(2).fill({ code: 0, stdout: 'p1\tbox\n', stderr: '' }))
    expect((await run(toy, 'o')).stdout).toBe('other\tq2\n')
    expect((await run(toy, 'two')).stdout).toBe('')
    expect(toy.asked).toHaveLength(1)
    const gone = await ToyPlane.open({})
    const target = { url: gone.url }
    await gone.close()
    expect(await run(target)).toEqual({ code: 0, stdout: '', stderr: '' })
  })

  it('[CMD-41] scripts of bash, zsh, fish and PowerShell, which bash reads', async () => {
    for (const shell of ['bash', 'zsh', 'fish', 'powershell']) {
      const { code, stdout } = await podplane(['completion', shell])
      expect(code).toBe(0)
      expect(stdout).toContain('podplane __complete --')
      if (shell === 'bash') execFileSync('bash', ['-n'], { input: stdout })
    }
    expect((await podplane(['completion', 'tcsh'])).code).toBe(2)
  })
})

describe('the operator', () => {
  it('[CMD-50] has hosts, users and join-tokens at the top and all under admin, asked with the operator key', async () => {
    const HOST = { id: 'h1', name: 'gpu-1', status: 'ONLINE', gpus: [] }
    const toy = await at({
      'GET /admin/v1/hosts': { body: { hosts: [HOST] } },
      'POST /admin/v1/hosts/h1/cordon': { body: { ...HOST, cordon: {} } },
    })
    const env = { PODPLANE_OPERATOR_KEY: 'ppo_key' }
    for (const argv of [
      ['hosts', 'list'],
      ['admin', 'hosts', 'list'],
    ]) {
      expect(await podplane(argv, { plane: toy, env })).toEqual({ code: 0, stdout: 'h1\tgpu-1\tONLINE\n', stderr: '' })
    }
    expect((await podplane(['hosts', 'cordon', 'h1', '--reason', 'fan'], { plane: toy, env })).code).toBe(0)
    expect(new Set(toy.asked.map(({ key }) => key))).toEqual(new Set(['ppo_key']))
    expect((await podplane(['hosts', 'list'], { plane: toy })).code).toBe(3)
    const help = async (given: Record<string, string>) => (await podplane(['--help'], { env: given })).stdout
    expect([(await help(env)).includes('join-tokens'), (await help({})).includes('join-tokens')]).toEqual([true, false])
  })
})

describe('the plane itself', () => {
  const env = { PODPLANE_OPERATOR_KEY: 'ppo_key' }
  const check = (id: string, verdict: string) => ({ id, verdict, evidence: `${id} seen`, fix: null })
  const status = (...checks: object[]) => ({
    body: { version: '0.1.0', asOf: '2026-06-01T12:00:00Z', migrations: { newest: 'x', applied: 1, pending: [] }, checks },
  })

  it('[CMD-29] doctor has a line a check, and exit code 1 when one fails', async () => {
    const good = await at({ 'GET /admin/v1/plane': status(check('migrations', 'OK'), check('hosts', 'WARN')) })
    expect(await podplane(['plane', 'doctor'], { plane: good, env })).toEqual({
      code: 0,
      stdout: 'migrations\tOK\tmigrations seen\t\nhosts\tWARN\thosts seen\t\n',
      stderr: '',
    })
    expect((await podplane(['plane', 'status', '--json', 'version'], { plane: good, env })).stdout).toContain('0.1.0')
    await good.close()
    const bad = await at({ 'GET /admin/v1/plane': status(check('migrations', 'FAIL')) })
    expect((await podplane(['plane', 'doctor'], { plane: bad, env })).code).toBe(1)
    expect((await podplane(['plane', 'doctor'], { plane: bad })).code).toBe(3)
  })

  it('[CMD-61] a machine that would have to use plain http gets no token unless that is accepted', async () => {
    const env = { PODPLANE_OPERATOR_KEY: 'ppo_key' }
    const toy = await at({})
    const remote = ['admin', '--url', 'http://plane.example.com', 'hosts', 'add']
    const { code, stderr } = await podplane(remote, { plane: toy, env })
    expect({ code, asked: toy.asked }).toEqual({ code: 2, asked: [] })
    expect(stderr).toContain('--insecure-plane')
    expect(agentCommand('http://10.0.0.5:8787', 'ppj_x', true)).toBe(
      "podplane-agent --url 'http://10.0.0.5:8787' --insecure-plane --token 'ppj_x'",
    )
  })

  it('[CMD-29] lists waiting workloads, the limits of an account, and the command that starts a machine', async () => {
    const waiting = {
      endpointId: 'e1',
      endpointName: 'chat',
      accountId: 'a1',
      since: '2026-06-01T11:00:00Z',
      missing: [{ text: 'needs 2 free NVIDIA H200', hosts: 4 }],
    }
    const toy = await at({
      'GET /admin/v1/waiting': { body: { waiting: [waiting], pagination: LAST } },
      'GET /admin/v1/users': { body: { users: [{ id: 'u1', email: 'ada@example.com' }] } },
      'PUT /admin/v1/users/u1/budgets': ({ body }) => ({ body }),
      'GET /admin/v1/users/u1/plan': { body: { plan: 'research' } },
      'GET /admin/v1/users/u1/spend-limits': { body: { perHour: 5 } },
      'POST /admin/v1/join-tokens': ({ body }) => ({ status: 201, body: { token: 'ppj_x', ...(body as object) } }),
    })
    const run = async (...argv: string[]) => (await podplane(argv, { plane: toy, env })).stdout
    expect(await run('plane', 'waiting')).toBe('e1\tchat\ta1\t2026-06-01T11:00:00Z\tneeds 2 free NVIDIA H200 (4 hosts)\n')
    expect(JSON.parse(await run('users', 'quota', 'ada@example.com', 'gpus=4', '--json'))).toEqual({
      id: 'u1',
      plan: 'research',
      budgets: { gpus: 4 },
      spend: { perHour: 5 },
    })
    expect(JSON.parse(await run('hosts', 'add', 'gpu-1', '--json', 'name,command'))).toEqual({
      name: 'gpu-1',
      command: `podplane-agent --url '${toy.url}' --token 'ppj_x'`,
    })
  })
})

describe('podplane api and version', () => {
  it('[CMD-43] sends any request with the current key, to the plane alone', async () => {
    const toy = await at({ 'PATCH /v2/pods/p1': { body: { ...POD, name: 'new' } } })
    const { stdout } = await podplane(['api', 'patch', '/v2/pods/p1', '--body', '-'], { plane: toy, stdin: '{"name":"new"}' })
    expect(JSON.parse(stdout)).toEqual({ ...POD, name: 'new' })
    expect(toy.asked).toMatchObject([{ method: 'PATCH', body: { name: 'new' }, key: 'pp_key' }])
    for (const path of ['//evil.example.com/x', 'https://evil.example.com/x', 'v2/pods']) {
      expect((await podplane(['api', 'GET', path], { plane: toy })).code).toBe(2)
    }
  })

  it('[CMD-43] has the version of its package', async () => {
    expect(CLI_VERSION).toBe((JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }).version)
    expect((await podplane(['version', '--json', 'version'])).stdout).toContain(CLI_VERSION)
  })
})

describe('podplane spend stop', () => {
  const THING = { kind: 'POD', id: 'p1', name: 'box', perHour: 0.45 }
  const PLAN = { planId: 'x1', perHour: 0.45, remainingPerHour: 0.01, stops: [{ ...THING, savesPerHour: 0.44 }], stays: [], effects: [] }
  const stopped = (state: string, reason: string | null = null) => {
    const item = { kind: 'POD', id: 'p1', name: 'box', state, reason, formerWorkers: null }
    return { id: 's1', createdAt: '2026-06-01T12:00:00Z', savedPerHour: 0.44, undoneAt: null, items: [item] }
  }

  it('[CMD-60] sends the plan that it has shown; without a terminal it asks for --yes, and --plan changes nothing', async () => {
    const bodies: unknown[] = []
    await at({
      'POST /v2/spend/stop?dryRun=true': () => ({ body: PLAN }),
      'POST /v2/spend/stop': ({ body }) => {
        bodies.push(body)
        return { body: stopped('STOPPED') }
      },
    })
    const run = (...args: string[]) => podplane(['spend', 'stop', ...args], { plane: plane as ToyPlane })
    const planned = await run('--plan')
    expect({ code: planned.code, stdout: planned.stdout }).toEqual({ code: 0, stdout: 'POD\tp1\tbox\t0.45\t0.44\tstops\n' })
    expect((await run()).code).toBe(2)
    expect(bodies).toEqual([])
    expect((await run('--yes')).code).toBe(0)
    expect((await run('p1', '--yes')).code).toBe(0)
    expect(bodies).toEqual([{ planId: 'x1' }, { ids: ['p1'], planId: 'x1' }])
  })

  it('[CMD-60] a pod that could not be started again is a bad outcome with its reason', async () => {
    await at({ 'POST /v2/spend/stops/s1/undo': () => ({ body: stopped('FAILED', 'no host has room') }) })
    const undone = await podplane(['spend', 'undo', 's1'], { plane: plane as ToyPlane })
    expect({ code: undone.code, stdout: undone.stdout }).toEqual({ code: 1, stdout: 'POD\tp1\tbox\tFAILED\tno host has room\n' })
  })
})
