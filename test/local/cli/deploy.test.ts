import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readManifest } from '../../../src/cli/deploy/manifest.ts'
import { type Present, planDeploy } from '../../../src/cli/deploy/plan.ts'
import { undoSince } from '../../../src/cli/endpoints/rollback.ts'
import { afterEach, beforeEach, describe, expect, it } from '../../support/unit.ts'
import { podplane, type Routes, ToyPlane } from './terminal.ts'

const read = (text: string, env: Record<string, string> = {}) => readManifest(text, 'podplane.toml', env)
const NOTHING = { volumes: [], templates: [], endpoints: [], pods: [] }

describe('podplane.toml', () => {
  it('[CMD-20] declares things by name in the members of the API, in the order in which they are made', () => {
    const declared = read(
      `
      [pods.lab]
      image = "python:3"
      cpu = { id = "cpu3c", vcpuCount = 2 }
      mounts = { network = [{ volumeId = "volumes.data", path = "/data" }] }
      [endpoints.chat]
      image = "\${REGISTRY}/chat:\${TAG:-1}"
      env = { GREETING = "$\${name}" }
      smoke = { input = { prompt = "hi" }, timeout = "90s" }
      [volumes.data]
      size = 20
      dataCenter = "LOCAL-1"`,
      { REGISTRY: 'registry.example.com' },
    )
    expect(declared).toEqual([
      { kind: 'volumes', name: 'data', members: { size: 20, dataCenter: 'LOCAL-1' } },
      {
        kind: 'endpoints',
        name: 'chat',
        members: { image: 'registry.example.com/chat:1', env: { GREETING: '${name}' } },
        smoke: { input: { prompt: 'hi' }, timeoutMs: 90_000 },
      },
      {
        kind: 'pods',
        name: 'lab',
        members: {
          image: 'python:3',
          cpu: { id: 'cpu3c', vcpuCount: 2 },
          mounts: { network: [{ volumeId: 'volumes.data', path: '/data' }] },
        },
      },
    ])
  })

  it('[CMD-20] names errors by their place', () => {
    const wrong: [string, string][] = [
      ['[endpoint.x]', 'podplane.toml: endpoint: unknown table; it must be one of volumes, templates, endpoints, pods'],
      ['[endpoints.x]\nimag = "a"', 'podplane.toml: endpoints.x.imag: unknown field; it must be one of args, cmd'],
      ['[pods.x]\nsmoke = {}', 'podplane.toml: pods.x.smoke: only endpoints have a smoke job'],
      ['[endpoints.x.smoke]\ninput = 3', 'podplane.toml: endpoints.x.smoke needs an input'],
      ['[endpoints.x.smoke]\ninput = {}\ntimeout = "soon"', 'podplane.toml: endpoints.x.smoke.timeout: it must be a duration'],
      ['[endpoints.x]\nimage = "$' + '{IMAGE}"', 'podplane.toml: endpoints.x.image: the variable IMAGE is not set'],
      ['[pods.x]\ntemplateId = "templates.base"', 'podplane.toml: pods.x: templates.base is not declared in this file'],
      ['', 'podplane.toml declares nothing'],
      ['[endpoints.x', 'podplane.toml: '],
    ]
    for (const [text, error] of wrong) expect(() => read(text)).toThrow(error)
  })
})

describe('the plan of a deploy', () => {
  const declared = read(`
    [volumes.data]
    size = 20
    dataCenter = "LOCAL-1"
    [endpoints.chat]
    image = "chat:2"
    workers = { max = 5 }
    env = { A = "1" }
    networkVolumes = ["volumes.data"]
    [pods.lab]
    image = "python:3"
    cpu = { id = "cpu3c", vcpuCount = 2 }`)
  const volume: Present = { id: 'v1', name: 'data', size: 20, dataCenter: 'LOCAL-1', type: 'STANDARD' }
  const endpoint: Present = {
    id: 'e1',
    name: 'chat',
    image: 'chat:2',
    workers: { min: 0, max: 5 },
    env: { A: '1' },
    networkVolumes: ['v1'],
  }
  const pod: Present = { id: 'p1', name: 'lab', image: 'python:3', cpu: { id: 'cpu3c', vcpuCount: 2, memory: 4 } }
  const actions = (present: Partial<Record<keyof typeof NOTHING, Present[]>>) =>
    planDeploy(declared, { ...NOTHING, ...present }).map(({ action, changes }) => [action, changes.map(({ member }) => member).join()])

  it('[CMD-21] creates missing resources, and keeps those that match or are not declared', () => {
    expect(actions({})).toEqual([
      ['create', 'size,dataCenter'],
      ['create', 'image,workers,env,networkVolumes'],
      ['create', 'image,cpu'],
    ])
    const others = [endpoint, { ...endpoint, id: 'e2', name: 'another' }]
    expect(actions({ volumes: [volume], endpoints: others, pods: [pod] })).toEqual([
      ['keep', ''],
      ['keep', ''],
      ['keep', ''],
    ])
  })

  it('[CMD-21] changes differing members, and removes a variable that is not declared', () => {
    expect(
      actions({ volumes: [volume], endpoints: [{ ...endpoint, image: 'chat:1', workers: { min: 0, max: 3 } }], pods: [pod] })[1],
    ).toEqual(['update', 'image,workers'])
    expect(actions({ volumes: [volume], endpoints: [{ ...endpoint, env: { A: '1', B: '2' } }], pods: [pod] })[1]).toEqual(['update', 'env'])
  })

  it('[CMD-21] refuses an unchangeable member, and a name that exists twice', () => {
    const moved = planDeploy(declared, { ...NOTHING, pods: [{ ...pod, cpu: { id: 'cpu5c', vcpuCount: 2, memory: 4 } }] })[2]
    expect(moved).toMatchObject({ action: 'refuse', reason: 'cpu of a pod cannot be changed: delete p1 and deploy again' })
    const twice = planDeploy(declared, { ...NOTHING, pods: [pod, { ...pod, id: 'p2' }] })[2]
    expect(twice).toMatchObject({ action: 'refuse', reason: '2 pods are named lab: p1, p2; rename or delete all but one' })
  })
})

describe('podplane deploy', () => {
  const LAST = { nextCursor: null, hasNextPage: false }
  const EMPTY: Routes = {
    'GET /v2/network-volumes': { body: { networkVolumes: [] } },
    'GET /v2/templates': { body: { templates: [], pagination: LAST } },
    'GET /v2/serverless': { body: { endpoints: [], pagination: LAST } },
    'GET /v2/pods': { body: { pods: [], pagination: LAST } },
    'GET /v2/catalog/gpus': {
      body: {
        gpus: [
          { pool: 'ADA_24', price: { serverless: 0.7 } },
          { pool: 'ADA_24', price: { serverless: 0.9 } },
        ],
      },
    },
    'POST /v2/serverless?dryRun=true': {
      body: {
        fits: false,
        cost: 0.9,
        costAtMost: 1.8,
        missing: ['needs 1 free NVIDIA L4'],
        options: [{ summary: 'allow GPUs of AMPERE_24 too' }],
      },
    },
    'POST /v2/pods?dryRun=true': { body: { fits: false, cost: 0.44, hosts: [{ failed: ['needs 1 free NVIDIA L4'] }] } },
  }
  let cwd = ''
  let plane: ToyPlane | undefined
  beforeEach(() => {
    cwd = mkdtempSync(join(tmpdir(), 'podplane-deploy-'))
  })
  afterEach(async () => {
    rmSync(cwd, { recursive: true, force: true })
    await plane?.close()
  })
  const run = async (toml: string, routes: Routes, ...argv: string[]) => {
    writeFileSync(join(cwd, 'podplane.toml'), toml)
    plane = await ToyPlane.open({ ...EMPTY, ...routes })
    return await podplane(['deploy', ...argv], { plane, cwd })
  }
  const changes = () =>
    plane?.asked.filter(({ method, url }) => method !== 'GET' && !url.includes('dryRun')).map(({ method, url }) => `${method} ${url}`)
  const CHAT =
    '[endpoints.chat]\nimage = "chat:1"\ngpu = { pools = ["ADA_24"] }\nworkers = { max = 2 }\nenv = { PASSWORD = "correct horse" }\n'

  it('[CMD-22, DRY-19] --plan shows changes and prices, no values of variables, and does nothing', async () => {
    const toml = `${CHAT}[pods.lab]\nimage = "python:3"\ngpu = { id = "NVIDIA L4" }\n`
    const { code, stdout, stderr } = await run(toml, {}, '--plan', '--json')
    expect(code).toBe(0)
    const { applied, usdPerHour, steps } = JSON.parse(stdout) as {
      applied: boolean
      usdPerHour: number
      steps: { note: string | null; usdPerHour: number }[]
    }
    expect({ applied, usdPerHour, prices: steps.map(({ note, usdPerHour }) => [usdPerHour, note]) }).toEqual({
      applied: false,
      usdPerHour: 2.24,
      prices: [
        [1.8, 'no worker would start now: needs 1 free NVIDIA L4; what would fit: allow GPUs of AMPERE_24 too'],
        [0.44, 'no host has room now: needs 1 free NVIDIA L4'],
      ],
    })
    expect(stdout + stderr).not.toContain('correct horse')
    expect(changes()).toEqual([])
  })

  it('[CMD-5, CMD-22] asks before it changes anything', async () => {
    const { code, stderr } = await run(CHAT, {})
    expect({ code, changes: changes() }).toEqual({ code: 2, changes: [] })
    expect(stderr).toContain(
      '1 to create, 0 to change, 0 unchanged. Continue? This needs a confirmation, and there is no terminal for it.\n  add --yes',
    )
    expect(stderr).not.toContain('correct horse')
  })

  it('[CMD-20, CMD-4] inserts the ids of the resources that it has just created; --wait requires a COMPLETED smoke job', async () => {
    const toml = `[templates.base]\nimage = "chat:1"\n[endpoints.chat]\ntemplateId = "templates.base"\ngpu = { pools = ["ADA_24"] }\n[endpoints.chat.smoke]\ninput = { prompt = "hi" }\n`
    const made: Routes = {
      'POST /v2/templates': { status: 201, body: { id: 't1', name: 'base' } },
      'POST /v2/serverless': { status: 201, body: { id: 'e1', name: 'chat' } },
      'POST /v2/e1/run': { body: { id: 'j1', status: 'IN_QUEUE' } },
    }
    const good = await run(toml, { ...made, 'GET /v2/e1/status-sync/j1': { body: { id: 'j1', status: 'COMPLETED' } } }, '--yes', '--wait')
    expect(good).toMatchObject({ code: 0, stdout: 'create\ttemplate\tbase\tt1\t\ncreate\tendpoint\tchat\te1\t2.7\n' })
    expect(plane?.asked.find(({ url, method }) => url === '/v2/serverless' && method === 'POST')?.body).toEqual({
      name: 'chat',
      templateId: 't1',
      gpu: { pools: ['ADA_24'] },
    })
    await plane?.close()
    const job = { id: 'j1', status: 'FAILED', error: 'no model' }
    const bad = await run(toml, { ...made, 'GET /v2/e1/status-sync/j1': { body: job } }, '--yes', '--wait')
    expect(bad.code).toBe(1)
    expect(bad.stderr).toContain('error: the smoke job of endpoint chat is FAILED: no model\n  endpoint e1 exists and may be billed\n')
  })

  it('[CMD-23] lists the resources that it has created when it fails midway', async () => {
    const toml = '[templates.base]\nimage = "chat:1"\n[endpoints.chat]\ntemplateId = "templates.base"\ngpu = { pools = ["NOPE"] }\n'
    const refusal = { status: 422, body: { title: 'Unprocessable Entity', status: 422, detail: 'no such pool' } }
    const ran = await run(
      toml,
      { 'POST /v2/templates': { status: 201, body: { id: 't1', name: 'base' } }, 'POST /v2/serverless': refusal },
      '--yes',
    )
    expect(ran.code).toBe(5)
    expect(ran.stderr).toContain('error: endpoint chat: no such pool\n  template base (t1) exists and may be billed\n')
  })

  it('[CMD-21] refuses before anything is done', async () => {
    const there = { body: { pods: [{ id: 'p1', name: 'lab', image: 'python:3', cloud: 'COMMUNITY' }], pagination: LAST } }
    const ran = await run(`${CHAT}[pods.lab]\nimage = "python:3"\ncloud = "SECURE"\n`, { 'GET /v2/pods': there }, '--yes')
    expect({ code: ran.code, changes: changes() }).toEqual({ code: 5, changes: [] })
  })

  it('[CMD-20] init writes files that deploy reads, and none over another', async () => {
    for (const [kind, files] of Object.entries({
      endpoint: ['podplane.toml'],
      worker: ['podplane.toml', 'handler.py', 'Dockerfile'],
      pod: ['podplane.toml'],
    })) {
      const made = await podplane(['init', kind], { cwd })
      expect(made).toMatchObject({ code: 0, stdout: `${files.join('\n')}\n` })
      expect(read(readFileSync(join(cwd, 'podplane.toml'), 'utf8'), { IMAGE: 'x' })).toHaveLength(1)
      expect((await podplane(['init', kind], { cwd })).code).toBe(5)
      for (const file of files) rmSync(join(cwd, file))
    }
  })
})

describe('podplane endpoints rollback', () => {
  it('[CMD-25] undoes the releases since a version, the newest first', () => {
    const releases = [
      {
        version: 3,
        diff: [
          { field: 'template.imageName', old: 'chat:2', new: 'chat:3' },
          { field: 'template.env', old: {}, new: {} },
        ],
      },
      {
        version: 2,
        diff: [
          { field: 'template.imageName', old: 'chat:1', new: 'chat:2' },
          { field: 'gpuCount', old: 1, new: 2 },
          { field: 'workers.max', old: 1, new: 2 },
        ],
      },
      { version: 1, diff: [] },
    ]
    expect(undoSince(releases, 1)).toEqual({ body: { image: 'chat:1', gpu: { count: 1 } }, lostVariables: true })
    expect(undoSince(releases, 3)).toEqual({ body: {}, lostVariables: false })
  })
})
