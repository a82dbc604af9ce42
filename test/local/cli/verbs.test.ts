import { linesTo } from '../../../src/cli/ingress/exec-members.ts'
import { CONSOLE_PAGES, openerOf } from '../../../src/cli/tools/open.ts'
import { paths } from '../../../src/console/hooks/paths.ts'
import { afterEach, describe, expect, it } from '../../support/unit.ts'
import { podplane, type Routes, ToyPlane } from './terminal.ts'

const LAST = { nextCursor: null, hasNextPage: false }
const [E, P] = ['e1b2c3d4e5f6g7', 'p1b2c3d4e5f6g7']

let plane: ToyPlane | undefined
const at = async (routes: Routes) => (plane = await ToyPlane.open(routes))
const changes = () =>
  plane?.asked.filter(({ method }) => method !== 'GET').map(({ method, url, body }) => ({ at: `${method} ${url}`, body }))
afterEach(async () => {
  await plane?.close()
  plane = undefined
})

describe('open', () => {
  it('[CMD-18] prints the address of the page in the console', async () => {
    const toy = await at({})
    const of = async (...argv: string[]) => (await podplane(argv, { plane: toy })).stdout
    expect([
      await of('pods', 'open', P, '-q'),
      await of('endpoints', 'open', E, '-q'),
      await of('clusters', 'open', P, '-q'),
      await of('jobs', 'open', E, 'j1-u1', '-q'),
    ]).toEqual([
      `${toy.url}/console/pods/${P}\n`,
      `${toy.url}/console/endpoints/${E}\n`,
      `${toy.url}/console/clusters/${P}\n`,
      `${toy.url}/console/endpoints/${E}/jobs/j1-u1\n`,
    ])
  })

  it('[CMD-18] knows the addresses that the console has', () => {
    const [id, job] = ['a/b c', 'j1']
    expect([
      CONSOLE_PAGES.home(),
      CONSOLE_PAGES.pod(id),
      CONSOLE_PAGES.endpoint(id),
      CONSOLE_PAGES.job(id, job),
      CONSOLE_PAGES.cluster(id),
    ]).toEqual([paths.home(), paths.pod(id), paths.endpoint(id), paths.job(id, job), paths.cluster(id)])
  })

  it('[CMD-18] opens a browser only where a display exists', () => {
    expect([openerOf('linux', {}), openerOf('linux', { DISPLAY: ':0' }), openerOf('darwin', {})]).toEqual([
      undefined,
      ['xdg-open'],
      ['open'],
    ])
  })
})

describe('labels of pods', () => {
  it('[LBL-7] are set at create and filter the list', async () => {
    const pod = { id: P, name: 'i', status: 'PROVISIONING' }
    const toy = await at({ 'POST /v2/pods': { status: 201, body: pod }, 'GET /v2/pods': { body: { pods: [], pagination: LAST } } })
    const create = ['pods', 'create', '--image', 'i', '--cpu', 'cpu3c', '--label', 'team=a=b', '--label', 'gpu=']
    expect((await podplane(create, { plane: toy })).code).toBe(0)
    expect(changes()).toMatchObject([{ body: { labels: { team: 'a=b', gpu: '' } } }])
    expect((await podplane([...create, '--label', 'gpu'], { plane: toy })).code).toBe(2)
    expect((await podplane(['pods', 'list', '--label', 'team=a', '--label', 'gpu'], { plane: toy })).code).toBe(0)
    expect(toy.asked.at(-1)?.url).toContain('label=team%3Da&label=gpu')
  })

  it('[LBL-7] a plane of an earlier release, which ignores the filter, is refused: a pipeline would act on all pods', async () => {
    const toy = await at({ 'GET /v2/pods': { body: { pods: [{ id: P, name: 'i', status: 'RUNNING' }], pagination: LAST } } })
    const { code, stdout, stderr } = await podplane(['pods', 'list', '--label', 'team=a', '-q'], { plane: toy })
    expect({ code, stdout }).toEqual({ code: 5, stdout: '' })
    expect(stderr).toContain('cannot filter pods')
    expect((await podplane(['pods', 'list', '-q'], { plane: toy })).stdout).toBe(`${P}\n`)
  })
})

describe('the list of endpoints', () => {
  it('[PAG-20] by name is refused at a plane of an earlier release, which ignores the name', async () => {
    const endpoint = { id: E, name: 'Prod', workers: { min: 0, max: 1 } }
    const toy = await at({ 'GET /v2/serverless': { body: { endpoints: [endpoint], pagination: LAST } } })
    const list = (name: string) => podplane(['endpoints', 'list', '-q', '--name', name], { plane: toy })
    expect(await list('prod')).toMatchObject({ code: 0, stdout: `${E}\n` })
    expect(await list('test')).toMatchObject({ code: 5, stdout: '' })
  })

  it('[PAG-20] a name is compared as the plane does, with A to Z alone in any case', async () => {
    const toy = await at({ 'GET /v2/pods': { body: { pods: [{ id: P, name: 'ΑΣΑ', status: 'RUNNING' }], pagination: LAST } } })
    expect(await podplane(['pods', 'list', '-q', '--name', 'ΑΣ'], { plane: toy })).toMatchObject({ code: 0, stdout: `${P}\n` })
  })
})

describe('the list of pods', () => {
  it('[PAG-20] [PAG-22] is filtered and ordered by the plane, and an earlier release that ignores it is refused', async () => {
    const toy = await at({ 'GET /v2/pods': { body: { pods: [{ id: P, name: 'Train', status: 'RUNNING' }], pagination: LAST } } })
    const list = (...options: string[]) => podplane(['pods', 'list', '-q', ...options], { plane: toy })
    expect((await list('--name', 'train', '--status', 'RUNNING', '--status', 'ERROR', '--sort', 'name')).stdout).toBe(`${P}\n`)
    expect(toy.asked.at(-1)?.url).toContain('name=train&status=RUNNING&status=ERROR&sort=name')
    for (const ignored of [
      ['--name', 'other'],
      ['--status', 'ERROR'],
    ])
      expect(await list(...ignored)).toMatchObject({ code: 5, stdout: '' })
    expect((await list('--sort', 'price')).code).toBe(2)
  })
})

describe('endpoints try', () => {
  const TIMELINE = {
    jobId: 'j1',
    status: 'COMPLETED',
    createdAt: '2026-06-01T12:00:00Z',
    finishedAt: '2026-06-01T12:00:01Z',
    costUsd: 0.002,
    attempts: [
      { attempt: 1, worker: { id: 'w1' }, outcome: 'COMPLETED', phases: [{ phase: 'QUEUED', ms: 40 }], costUsd: 0.002, reason: null },
    ],
  }
  const routes = (job: object, stream: object[]): Routes => ({
    [`POST /v2/${E}/run`]: { body: { id: 'j1', status: 'IN_QUEUE' } },
    [`GET /v2/${E}/stream/j1`]: (_asked, count) => ({ body: { status: 'COMPLETED', stream: count === 1 ? stream : [] } }),
    [`GET /v2/${E}/status-sync/j1`]: { body: job },
    [`GET /v2/${E}/timeline/j1`]: { body: TIMELINE },
  })
  const DONE = { id: 'j1', status: 'COMPLETED', output: { said: 'hi' }, delayTime: 40, executionTime: 900 }

  it('[CMD-19] prints chunks as data, and the time by phase', async () => {
    const toy = await at(routes(DONE, [{ output: 'Hel' }, { output: 'lo' }]))
    const { code, stdout, stderr } = await podplane(['endpoints', 'try', E], { plane: toy })
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'Hello\n' })
    expect(stderr.split('\n')).toEqual([
      'job j1',
      'ATTEMPT  OUTCOME    WORKER  PHASES        COST   REASON',
      '1        COMPLETED  w1      QUEUED 40 ms  0.002  -',
      'COMPLETED: queued 40 ms, ran 900 ms, $0.002',
      '',
    ])
    expect(changes()).toEqual([{ at: `POST /v2/${E}/run`, body: { input: { prompt: 'Hello' } } }])
  })

  it('[CMD-19] prints the output of an endpoint that does not stream; a job that FAILED is exit code 1', async () => {
    const toy = await at(routes(DONE, []))
    expect((await podplane(['endpoints', 'try', E, '{"a":1}'], { plane: toy })).stdout).toBe('{\n  "said": "hi"\n}\n')
    expect(JSON.parse((await podplane(['endpoints', 'try', E, '--json'], { plane: toy })).stdout)).toEqual({
      job: DONE,
      timeline: TIMELINE,
    })
    await toy.close()
    const failed = await at(routes({ id: 'j1', status: 'FAILED', error: 'no such model', delayTime: 1, executionTime: 2 }, []))
    const ran = await podplane(['endpoints', 'try', E], { plane: failed })
    expect({ code: ran.code, stdout: ran.stdout, said: ran.stderr.includes('no such model') }).toEqual({ code: 1, stdout: '', said: true })
  })
})

describe('many jobs at once', () => {
  const bulk = (more: object) => ({
    id: 'b1',
    action: 'cancel',
    status: 'DONE',
    matched: 3,
    byStatus: { IN_QUEUE: 3 },
    ids: ['j1', 'j2', 'j3'],
    estimatedCostUsd: null,
    looked: 3,
    changed: 3,
    skipped: 0,
    createdAt: '2026-06-01T12:00:00Z',
    finishedAt: null,
    ...more,
  })
  const routes = (matched = 3): Routes => ({
    [`POST /v2/${E}/requests/cancel?dryRun=true`]: {
      body: bulk({ id: null, status: 'PLANNED', matched, ids: matched === 0 ? [] : ['j1', 'j2', 'j3'] }),
    },
    [`POST /v2/${E}/requests/cancel`]: { body: bulk({ status: 'RUNNING', changed: 0 }) },
    [`GET /v2/${E}/requests/bulk/b1`]: { body: bulk({}) },
    [`POST /v2/${E}/cancel/j1`]: { body: { id: 'j1', status: 'CANCELLED' } },
  })
  const cancel = (...argv: string[]) => podplane(['jobs', 'cancel', E, ...argv], { plane: plane as ToyPlane })

  it('[CMD-24] --plan lists the jobs, and changes nothing', async () => {
    await at(routes())
    expect(await cancel('--status', 'in_queue', '--plan')).toEqual({
      code: 0,
      stdout: 'j1\nj2\nj3\n',
      stderr: 'cancel would change 3 jobs (3 IN_QUEUE)\n',
    })
    expect(changes()).toEqual([{ at: `POST /v2/${E}/requests/cancel?dryRun=true`, body: { status: ['IN_QUEUE'] } }])
  })

  it('[CMD-24] without a terminal --yes is needed; exactly the shown plan is executed, and its end is awaited', async () => {
    await at(routes())
    const asked = await cancel('--status', 'IN_QUEUE')
    expect({ code: asked.code, stderr: asked.stderr }).toEqual({
      code: 2,
      stderr: 'error: Cancel 3 jobs (3 IN_QUEUE)? This needs a confirmation, and there is no terminal for it.\n  add --yes\n',
    })
    const ran = await cancel('--status', 'IN_QUEUE', '--yes', '--json', 'status,changed')
    expect({ code: ran.code, done: JSON.parse(ran.stdout) }).toEqual({ code: 0, done: { status: 'DONE', changed: 3 } })
    expect(changes()?.at(-1)).toEqual({ at: `POST /v2/${E}/requests/cancel`, body: { status: ['IN_QUEUE'], expected: 3 } })
  })

  it('[CMD-24] one job is cancelled directly; without a job it is exit code 2; a filter without matches changes nothing', async () => {
    await at(routes(0))
    expect(await cancel('j1')).toMatchObject({ code: 0, stdout: 'j1\n' })
    expect((await cancel()).code).toBe(2)
    expect((await cancel('--since', '1h', '--yes')).code).toBe(0)
    expect(changes()?.map((change) => change.at)).toEqual([`POST /v2/${E}/cancel/j1`, `POST /v2/${E}/requests/cancel?dryRun=true`])
  })
})

describe('members of a cluster', () => {
  const POD = { id: P, name: 'sft-0', status: 'EXITED' }

  it('[CMD-26] exec names the next step where no member runs, and needs a command', async () => {
    const toy = await at({ [`GET /v2/clusters/${E}/pods`]: { body: { pods: [POD] } } })
    expect(await podplane(['clusters', 'exec', E, '--', 'true'], { plane: toy })).toEqual({
      code: 5,
      stdout: '',
      stderr: `sft-0 is EXITED: skipped\nerror: no member of the cluster runs\n  podplane clusters wait ${E}\n`,
    })
    expect((await podplane(['clusters', 'exec', E], { plane: toy })).code).toBe(2)
  })

  it('[CMD-26] lines of members stay whole, each with the name of the member first', () => {
    const heard: string[] = []
    const sink = { write: (text: string) => heard.push(text) > 0 }
    const [a, b] = [linesTo(sink, 'a'), linesTo(sink, 'b')]
    const bytes = (text: string) => new TextEncoder().encode(text)
    a.take(bytes('one\ntw'))
    b.take(bytes('three'))
    a.take(bytes('o\n'))
    for (const lines of [a, b]) lines.end()
    expect(heard).toEqual(['a\tone\n', 'a\ttwo\n', 'b\tthree\n'])
  })

  it('[CMD-26] logs are those of all members, by time', async () => {
    const line = (ts: string, text: string) => ({ id: ts, ts, source: 'container', line: text })
    const page = (lines: object[]) => ({ body: { lines, older: null, newer: null, atEnd: true, truncatedAt: null } })
    const toy = await at({
      [`GET /v2/clusters/${E}/pods`]: { body: { pods: [POD, { ...POD, id: `q${P.slice(1)}`, name: 'sft-1' }] } },
      [`GET /v2/pods/${P}/logs/lines`]: page([line('2026-06-01T11:00:00Z', 'first'), line('2026-06-01T11:00:02Z', 'third')]),
      [`GET /v2/pods/q${P.slice(1)}/logs/lines`]: page([line('2026-06-01T11:00:01Z', 'second')]),
    })
    expect((await podplane(['clusters', 'logs', E, '--json', 'pod,line'], { plane: toy })).stdout).toBe(
      '{"pod":"sft-0","line":"first"}\n{"pod":"sft-1","line":"second"}\n{"pod":"sft-0","line":"third"}\n',
    )
  })
})

describe('organizations', () => {
  const ORGANIZATION = { id: E, name: 'acme', role: 'OWNER', createdAt: '2026-06-01T11:00:00Z' }
  const MEMBER = { userId: 'u1', email: 'ada@example.com', role: 'OWNER', joinedAt: '2026-06-01T11:00:00Z' }
  const TOKEN = 'ppi_secret'

  it('[CMD-27] are created, listed and found by name, with their members and invitations', async () => {
    const toy = await at({
      'GET /v2/organizations': { body: { organizations: [ORGANIZATION] } },
      [`GET /v2/organizations/${E}`]: { body: { ...ORGANIZATION, members: [MEMBER] } },
      [`POST /v2/organizations/${E}/invitations`]: ({ body }) => ({ status: 201, body: { id: 'i1', token: TOKEN, ...(body as object) } }),
      'POST /v2/organizations/invitations/accept': ({ body }) => ({ body: { ...ORGANIZATION, role: 'DEV', given: body } }),
      [`PATCH /v2/organizations/${E}/members/u1`]: ({ body }) => ({ body: { ...MEMBER, ...(body as object) } }),
      [`DELETE /v2/organizations/${E}/members/u1?keysTo=u2`]: { status: 204 },
    })
    const run = async (...argv: string[]) => (await podplane(argv, { plane: toy })).stdout
    expect(await run('members', 'list', 'acme')).toBe('u1\tada@example.com\tOWNER\t2026-06-01T11:00:00Z\n')
    expect(JSON.parse(await run('invitations', 'create', 'acme', 'grace@example.com', '--role', 'admin', '--days', '3', '--json'))).toEqual(
      {
        id: 'i1',
        token: TOKEN,
        email: 'grace@example.com',
        role: 'ADMIN',
        expiresInDays: 3,
      },
    )
    const accepted = await podplane(['invitations', 'accept', '-', '--json', 'role,given'], { plane: toy, stdin: `${TOKEN}\n` })
    expect(JSON.parse(accepted.stdout)).toEqual({ role: 'DEV', given: { token: TOKEN } })
    expect(await run('members', 'set-role', 'acme', 'u1', 'dev', '--json', 'role')).toContain('DEV')
    expect((await podplane(['members', 'remove', 'acme', 'u1'], { plane: toy })).code).toBe(2)
    expect(await run('members', 'remove', 'acme', 'u1', '--keys-to', 'u2', '--yes')).toBe('u1\n')
  })
})

describe('events', () => {
  it('[CMD-28] are sentences, the plane filters them', async () => {
    const event = {
      id: 'v1',
      at: '2026-06-01T11:00:00Z',
      actor: { kind: 'KEY' },
      action: 'pods.create',
      targets: [{ kind: 'pod', id: P }],
      message: 'An API key created pod box',
    }
    const toy = await at({ 'GET /v2/events': { body: { events: [event], pagination: LAST } } })
    expect((await podplane(['events', '--since', '1h', '--resource', P], { plane: toy })).stdout).toBe(
      `2026-06-01T11:00:00Z\tpods.create\t${P}\tAn API key created pod box\n`,
    )
    expect(Object.fromEntries(new URLSearchParams(toy.asked[0]?.url.split('?')[1]))).toEqual({
      limit: '100',
      resource: P,
      from: expect.stringMatching(/^2026-06-01T11:/),
    })
  })
})

describe('plans', () => {
  it('[CMD-15] every verb with --plan asks the same verb with dryRun, and changes nothing', async () => {
    const plan = (id: string) => ({
      body: {
        action: 'x',
        resource: { kind: 'pod', id, name: 'box' },
        effects: [{ kind: 'CHANGES', resource: { kind: 'pod', id, name: 'box' }, what: 'so it would be', severity: 'INFO', amount: null }],
        refusal: null,
      },
    })
    const toy = await at({
      [`POST /v2/pods/${P}/action?dryRun=true`]: plan(P),
      [`PATCH /v2/pods/${P}?dryRun=true`]: plan(P),
      [`DELETE /v2/pods/${P}?dryRun=true`]: plan(P),
      [`PATCH /v2/serverless/${E}?dryRun=true`]: plan(E),
      [`DELETE /v2/serverless/${E}?dryRun=true`]: plan(E),
    })
    for (const argv of [
      ['pods', 'start', P],
      ['pods', 'stop', P],
      ['pods', 'restart', P],
      ['pods', 'update', P, '--body', '{}'],
      ['pods', 'delete', P],
      ['endpoints', 'update', E, '--body', '{}'],
      ['endpoints', 'scale', E, '--max', '0'],
      ['endpoints', 'delete', E],
    ])
      expect({ argv, ran: await podplane([...argv, '--plan'], { plane: toy }) }).toEqual({
        argv,
        ran: { code: 0, stdout: `INFO\tpod\t${argv[2]}\tso it would be\n`, stderr: '' },
      })
    expect(toy.asked.every(({ method, url }) => method !== 'GET' && url.endsWith('?dryRun=true'))).toBe(true)
  })
})
