import { execFile, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { createApiClient } from '../../src/client/client.ts'
import { DEFAULT_JOB_LIMITS, readJobLimits } from '../../src/domain/job/limits.ts'
import { banner, describeOpenNetwork } from '../../src/local/banner.ts'
import { claimPort, LOOPBACK } from '../../src/local/port.ts'
import { readStartSettings } from '../../src/local/settings.ts'
import { describe, expect, it } from '../support/unit.ts'

const DEMO = { url: 'http://127.0.0.1:8787', apiKey: 'pp_key', endpointId: 'abc', operatorKey: 'ppo_local', podImage: 'builtin/idle' }

describe('settings of npm start', () => {
  it('have defaults', () => {
    const settings = readStartSettings([], {})
    expect(settings).toMatchObject({ port: 8787, agent: true, simulateGpus: undefined, echoLogs: false, vars: {} })
    expect(settings.dataDir).toBe(join(process.cwd(), '.podplane'))
  })

  it('come from flags and environment', () => {
    const env = { PORT: '9000', PODPLANE_DATA: '/tmp/elsewhere', PODPLANE_LOG: 'stdout', LOG_LEVEL: 'debug', OPERATOR_KEY: 'ignored' }
    expect(readStartSettings(['--no-agent', '--simulate-gpus', 'NVIDIA L4:2'], env)).toEqual({
      dataDir: '/tmp/elsewhere',
      port: 9000,
      agent: false,
      simulateGpus: 'NVIDIA L4:2',
      echoLogs: true,
      vars: {
        LOG_LEVEL: 'debug',
        WEBHOOK_ALLOW: 'localhost,127.0.0.0/8,::1/128',
        WEBHOOK_ALLOW_USERS: 'demo@podplane.local',
        JOB_LIMITS: readStartSettings([], {}).vars.JOB_LIMITS,
        V1_ADAPTER: '1',
      },
    })
  })

  it('[HOOK-7] let webhooks call this machine by default', () => {
    const allowOf = (env: NodeJS.ProcessEnv) => readStartSettings([], env).vars.WEBHOOK_ALLOW
    expect(allowOf({})).toBe('localhost,127.0.0.0/8,::1/128')
    expect(allowOf({ WEBHOOK_ALLOW: '10.0.0.0/8' })).toBe('10.0.0.0/8')
    expect(allowOf({ WEBHOOK_ALLOW: '' })).toBe('')
    // Only those of the demo account, unless the operator has a list of their own (HOOK-21).
    const usersOf = (env: NodeJS.ProcessEnv) => readStartSettings([], env).vars.WEBHOOK_ALLOW_USERS
    expect([usersOf({}), usersOf({ WEBHOOK_ALLOW: '10.0.0.0/8' })]).toEqual(['demo@podplane.local', undefined])
  })

  it('[LEG-4] serve API v1 by default', () => {
    const adapterOf = (env: NodeJS.ProcessEnv) => readStartSettings([], env).vars.V1_ADAPTER
    expect([adapterOf({}), adapterOf({ V1_ADAPTER: '' })]).toEqual(['1', ''])
  })

  it('[PLANE-23] put the limits of the job API out of reach by default', () => {
    const limitsOf = (env: NodeJS.ProcessEnv) => readJobLimits(readStartSettings([], env).vars.JOB_LIMITS ?? '', '').limits
    for (const limit of Object.values(limitsOf({}))) expect(limit).toEqual({ rate: 1_000_000, concurrent: 1_000_000 })
    expect(limitsOf({ JOB_LIMITS: '{}' })).toEqual(DEFAULT_JOB_LIMITS.limits)
  })

  it('may override every variable that wrangler.toml declares, staging repeats and deploy.md explains', () => {
    const declared = readFileSync('wrangler.toml', 'utf8').split('[vars]')[1]?.split('\n[')[0] ?? ''
    const names = [...declared.matchAll(/^([A-Z][A-Z0-9_]+) = /gm)].map((match) => String(match[1]))
    expect(names).toContain('JOB_LIMITS')
    const documented = readFileSync('docs/deploy.md', 'utf8')
    expect(names.filter((name) => !documented.includes(`| \`${name}\` |`))).toEqual([])
    const staging = readFileSync('wrangler.toml', 'utf8').split('[env.staging.vars]')[1] ?? ''
    expect(names.filter((name) => !staging.includes(`${name} = `))).toEqual([])
    const env = Object.fromEntries(names.map((name) => [name, `own ${name}`]))
    expect(readStartSettings([], env).vars).toEqual(env)
  })

  it('name a wrong port', () => {
    for (const PORT of ['http', '-1', '65536', '80.5']) expect(() => readStartSettings([], { PORT })).toThrow(`PORT=${PORT}`)
  })
})

describe('simulated GPUs', () => {
  it('are checked before anything starts', () => {
    for (const spec of ['NVIDIA L4=2', 'NVIDIA L4:0']) {
      expect(() => readStartSettings(['--simulate-gpus', spec], {})).toThrow(`--simulate-gpus has '${spec}'`)
    }
  })
})

describe('a refusal', () => {
  it('is printed with its reasons', async () => {
    const server = createHttpServer((_, response) => {
      response.writeHead(422).end('{"title":"Unprocessable","detail":"input is wrong","errors":["$.email: not an address"]}')
    })
    await new Promise<void>((resolve) => server.listen(0, LOOPBACK, resolve))
    const { port } = server.address() as AddressInfo
    const answer = createApiClient(`http://${LOOPBACK}:${port}`, 'key').request('POST', '/users', {})
    await expect(answer).rejects.toThrow('POST /users: 422 input is wrong: $.email: not an address')
    server.close()
  })
})

describe('a port', () => {
  it('is chosen for 0, and refused with the next step when it is taken', async () => {
    const port = await claimPort(0)
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(port, LOOPBACK, resolve))
    await expect(claimPort(port)).rejects.toThrow(`port ${port} is already in use; set PORT=… or stop the other program`)
    await new Promise((resolve) => server.close(resolve))
  })
})

describe('the banner', () => {
  it('holds a curl command that starts at the first column and needs no editing', () => {
    const text = banner(DEMO, { readyMs: 900, consoleLink: '/console/sign-in#link=once', demoFile: '/d/demo.json', logs: '/d/logs' })
    const line = text.split('\n').find((candidate) => candidate.startsWith('curl '))
    expect(line).toContain("'http://127.0.0.1:8787/v2/abc/runsync'")
    expect(line).toContain("'Authorization: Bearer pp_key'")
    expect(text).toContain('npx podplane pods list')
    expect(text).not.toContain('ppo_local')
  })
})

describe('[HOST-86] a machine that cannot isolate containers', () => {
  it('is reported at the terminal, with the reason, and no other machine is', () => {
    const note = describeOpenNetwork({ network: false, networkReason: 'nft: not installed' })
    expect(note).toBe('containers reach one another, this machine and its network (nft: not installed); give keys to people you trust only')
    for (const network of [true, null]) expect(describeOpenNetwork({ network, networkReason: null })).toBeUndefined()
    expect(
      banner(DEMO, {
        readyMs: 900,
        consoleLink: '/console/sign-in#link=once',
        demoFile: '/d/demo.json',
        logs: '/d/logs',
        warning: note ?? '',
      }),
    ).toContain(`  Note: ${note}\n`)
  })
})

describe('npm run admin -- secrets reseal', () => {
  const STEPS = [
    { step: 'pods', looked: 100, resealed: 2, failed: ['pods/a'], nextCursor: 'pods/b' },
    { step: 'pods', looked: 1, resealed: 1, failed: [], nextCursor: 'endpoints/' },
    { step: 'endpoints', looked: 0, resealed: 0, failed: [], nextCursor: null },
  ]

  /** Runs it against a plane that answers with these steps. */
  async function reseal(
    steps: readonly object[],
    command = 'reseal',
  ): Promise<{ code: number | null; report: unknown; cursors: unknown[] }> {
    const left = [...steps]
    const cursors: unknown[] = []
    const plane = createHttpServer((request, response) => {
      const pieces: Buffer[] = []
      request.on('data', (piece: Buffer) => pieces.push(piece))
      request.on('end', () => {
        cursors.push(JSON.parse(Buffer.concat(pieces).toString()).cursor)
        response.setHeader('content-type', 'application/json').end(JSON.stringify(left.shift()))
      })
    })
    await new Promise<void>((resolve) => plane.listen(0, LOOPBACK, resolve))
    const url = `http://${LOOPBACK}:${(plane.address() as AddressInfo).port}`
    const env = { ...process.env, PODPLANE_OPERATOR_KEY: 'ppo_0123456789abcdef' }
    const child = spawn(process.execPath, ['src/cli/admin.ts', '--json', '--url', url, 'secrets', command], { env })
    const pieces: Buffer[] = []
    child.stdout.on('data', (piece: Buffer) => pieces.push(piece))
    const code = await new Promise<number | null>((resolve) => child.on('close', resolve))
    await new Promise((resolve) => plane.close(resolve))
    return { code, report: JSON.parse(Buffer.concat(pieces).toString()), cursors }
  }

  it('[SEAL-4] continues to the end, names the secrets that could not be opened and then fails', async () => {
    expect(await reseal(STEPS)).toEqual({
      code: 1,
      report: {
        parts: [
          { part: 'pods', looked: 101, resealed: 3, failed: ['pods/a'] },
          { part: 'endpoints', looked: 0, resealed: 0, failed: [] },
        ],
      },
      cursors: [undefined, 'pods/b', 'endpoints/'],
    })
    expect((await reseal(STEPS.slice(1))).code).toBe(0)
  })

  it('[CMD-50] is podplane admin: the same arguments, the same exit codes', async () => {
    const ran = (...argv: string[]) =>
      new Promise<unknown>((resolve) =>
        execFile(process.execPath, argv, (error, stdout, stderr) => resolve({ code: error?.code ?? 0, stdout, stderr })),
      )
    for (const [words, code] of [
      [['--help'], 0],
      [['users', 'nosuch'], 2],
      [['--json', '--url', 'nonsense', 'users', 'list'], 2],
    ] as const) {
      const alias = await ran('src/cli/admin.ts', ...words)
      expect(alias).toMatchObject({ code })
      if (words[0] !== '--json') expect(alias).toEqual(await ran('src/cli/main.ts', 'admin', ...words))
    }
  })

  it('[SECRET-7] rotate-master repeats until no row is left, and is not done before', async () => {
    const walk = (resealed: number, failed: string[] = []) => [
      { step: 'secrets', looked: 3, resealed, failed, nextCursor: 'host objects/' },
      { step: 'host objects', looked: 2, resealed: 2, failed: [], nextCursor: null },
    ]
    const parts = [
      { part: 'secrets', looked: 3, resealed: 0, failed: [] },
      { part: 'host objects', looked: 2, resealed: 2, failed: [] },
    ]
    const done = await reseal([...walk(3), ...walk(1), ...walk(0)], 'rotate-master')
    expect([done.code, done.report]).toEqual([0, { parts, walks: 3, done: true }])
    const failed = await reseal(walk(0, ['secrets/a:1:0']), 'rotate-master')
    expect([failed.code, failed.report]).toMatchObject([1, { walks: 1, done: false }])
  })
})

it('[HOST-87] the banner names each isolation that this machine does not enforce once', () => {
  const facts = { readyMs: 900, consoleLink: '/console/sign-in#link=once', demoFile: '/d/demo.json', logs: '/d/logs' }
  const notEnforced = ['built-in images: run as root', 'built-in images: have no group', 'runc: 1.1.5 is older than 1.1.12']
  expect(banner(DEMO, { ...facts, notEnforced })).toContain('Not enforced here: built-in images, runc.\n')
  expect(banner(DEMO, { ...facts, notEnforced: [] })).not.toContain('Not enforced')
})
