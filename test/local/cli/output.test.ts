import { afterEach, describe, expect, it } from '../../support/unit.ts'
import { podplane, type Routes, ToyPlane } from './terminal.ts'

const POD = {
  id: 'p1',
  name: 'box',
  image: 'registry.example.com/a/very/long/name/of/an/image/that/no/terminal/of/a/hundred/columns/has/room/for:1',
  status: 'RUNNING',
  statusReason: null,
  gpu: { id: 'NVIDIA L4', count: 1 },
  cost: 0.44,
  dataCenterId: 'LOCAL-1',
  createdAt: '2026-06-01T11:57:00Z',
  ports: [],
  env: {},
}
const OTHER = {
  ...POD,
  id: 'p2',
  name: 'tab\there',
  status: 'EXITED',
  gpu: undefined,
  cpu: { id: 'cpu3c', vcpuCount: 2 },
  cost: 0,
  image: 'idle',
}
const LAST = { nextCursor: null, hasNextPage: false }

let plane: ToyPlane | undefined
const open = async (routes: Routes) => (plane = await ToyPlane.open(routes))
afterEach(async () => {
  await plane?.close()
  plane = undefined
})

describe('the output of the command line', () => {
  it('[CMD-1] is a table on a terminal: relative times, colour, cut at its width', async () => {
    await open({ 'GET /v2/pods': { body: { pods: [POD, OTHER], pagination: LAST } } })
    const { stdout, stderr, code } = await podplane(['pods', 'list'], { plane: plane as ToyPlane, terminal: true, columns: 83 })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toBe(
      [
        'ID  NAME      STATUS   COMPUTE        COST      DATA CENTER  CREATED AT  IMAGE    …',
        'p1  box       \u001b[32mRUNNING\u001b[0m  1 x NVIDIA L4  $0.440/h  LOCAL-1      3m ago      registry.…',
        'p2  tab here  \u001b[33mEXITED\u001b[0m   2 vCPU cpu3c   $0.000/h  LOCAL-1      3m ago      idle     …',
        '',
      ].join('\n'),
    )
  })

  it('[CMD-1] is not cut on a terminal of unknown width', async () => {
    await open({ 'GET /v2/pods': { body: { pods: [POD], pagination: LAST } } })
    const { stdout } = await podplane(['pods', 'list'], { plane: plane as ToyPlane, terminal: true, columns: 0 })
    expect(stdout).toContain(POD.image)
  })

  it('[CMD-1] has no colour with NO_COLOR', async () => {
    await open({ 'GET /v2/pods': { body: { pods: [POD], pagination: LAST } } })
    const { stdout } = await podplane(['pods', 'list'], { plane: plane as ToyPlane, terminal: true, env: { NO_COLOR: '1' } })
    expect(stdout).toContain('RUNNING')
    expect(stdout).not.toContain('\u001b')
  })

  it('[CMD-1] is tab-separated when it is piped: no heading, exact times, nothing cut', async () => {
    await open({ 'GET /v2/pods': { body: { pods: [POD, OTHER], pagination: LAST } } })
    const { stdout } = await podplane(['pods', 'list'], { plane: plane as ToyPlane, columns: 20 })
    expect(stdout).toBe(
      `p1\tbox\tRUNNING\t1 x NVIDIA L4\t0.44\tLOCAL-1\t2026-06-01T11:57:00Z\t${POD.image}\t\np2\ttab here\tEXITED\t2 vCPU cpu3c\t0\tLOCAL-1\t2026-06-01T11:57:00Z\tidle\t\n`,
    )
  })

  it('[CMD-1, CMD-10] is the JSON of the API with --json, or the members that are named after it; ids with -q', async () => {
    await open({ 'GET /v2/pods': { body: { pods: [POD], pagination: LAST } }, 'GET /v2/pods/p1': { body: POD } })
    const of = async (...argv: string[]) => (await podplane(argv, { plane: plane as ToyPlane })).stdout
    expect(JSON.parse(await of('pods', 'list', '--json'))).toEqual({ pods: [POD], pagination: LAST })
    expect(JSON.parse(await of('--json', 'pods', 'list'))).toEqual({ pods: [POD], pagination: LAST })
    expect(JSON.parse(await of('pods', 'list', '--json', 'id,gpu.id'))).toEqual([{ id: 'p1', 'gpu.id': 'NVIDIA L4' }])
    expect(JSON.parse(await of('pod', 'get', 'p1', '--json=status'))).toEqual({ status: 'RUNNING' })
    expect(await of('pods', 'list', '-q')).toBe('p1\n')
  })

  it('[CMD-7] is bounded to 50 rows on a terminal, with a hint; --all and pipes read on', async () => {
    const page = (cursor: string | null) => ({ body: { pods: [POD], pagination: { nextCursor: cursor, hasNextPage: cursor !== null } } })
    await open({ 'GET /v2/pods': ({ url }) => page(url.includes('cursor=two') ? null : 'two') })
    const shown = await podplane(['pods', 'list'], { plane: plane as ToyPlane, terminal: true })
    expect(shown.stdout.trimEnd().split('\n')).toHaveLength(2)
    expect(shown.stderr).toBe('only the first 50 are shown; --all shows the rest\n')
    const all = await podplane(['pods', 'list', '--all'], { plane: plane as ToyPlane, terminal: true })
    expect(all.stdout.trimEnd().split('\n')).toHaveLength(3)
    const json = await podplane(['pods', 'list', '--json'], { plane: plane as ToyPlane, terminal: true })
    expect(JSON.parse(json.stdout)).toEqual({ pods: [POD, POD], pagination: LAST })
    expect((await podplane(['pods', 'list', '-q'], { plane: plane as ToyPlane })).stdout).toBe('p1\np1\n')
  })

  it('[CMD-11] accepts nouns in singular and plural, and serverless and sls for endpoints', async () => {
    await open({ 'GET /v2/serverless': { body: { endpoints: [], pagination: LAST } } })
    for (const noun of ['endpoints', 'endpoint', 'serverless', 'sls']) {
      const { code, stderr } = await podplane([noun, 'list'], { plane: plane as ToyPlane, terminal: true })
      expect({ code, stderr }).toEqual({ code: 0, stderr: 'no endpoints; create one with podplane endpoints create\n' })
    }
  })
})
