import { sparkline } from '../../../src/cli/pods/metrics.ts'
import { afterEach, describe, expect, it } from '../../support/unit.ts'
import { podplane, type Routes, ToyPlane } from './terminal.ts'

const LAST = { nextCursor: null, hasNextPage: false }
const POD = { id: 'p1', name: 'box', status: 'PROVISIONING', statusReason: null, ports: [], cost: 1 }
const WHY = {
  id: 'p1',
  status: 'PROVISIONING',
  code: 'NO_CAPACITY',
  verdict: 'No host has room: needs 1 free NVIDIA L4.',
  evidence: [{ kind: 'CONSTRAINT', text: 'needs 1 free NVIDIA L4', count: 3, total: 4, at: null }],
  options: [
    {
      kind: 'GPU_TYPE',
      summary: 'use NVIDIA RTX A5000',
      who: 'YOU',
      call: null,
      pricePerHour: 0.36,
      priceDifference: -0.08,
      waitSeconds: null,
    },
  ],
  isStale: false,
}

let plane: ToyPlane | undefined
const at = async (routes: Routes) => (plane = await ToyPlane.open(routes))
afterEach(async () => {
  await plane?.close()
  plane = undefined
})

describe('explanations, plans and history', () => {
  it('[CMD-15] why prints the verdict, its evidence, and the options that would start the resource', async () => {
    const toy = await at({ 'GET /v2/pods/p1/explain': { body: WHY } })
    expect((await podplane(['pods', 'why', 'p1'], { plane: toy, terminal: true })).stdout).toBe(
      'No host has room: needs 1 free NVIDIA L4.\n  - needs 1 free NVIDIA L4 (3 of 4)\nChanges that would start it now:\n  * use NVIDIA RTX A5000 ($0.360/h)\n',
    )
    expect(JSON.parse((await podplane(['pods', 'why', 'p1', '--json'], { plane: toy })).stdout)).toEqual(WHY)
  })

  it('[CMD-4] a wait prints the verdict', async () => {
    const toy = await at({ 'GET /v2/pods/p1': { body: POD }, 'GET /v2/pods/p1/explain': { body: WHY } })
    const { code, stderr } = await podplane(['pods', 'wait', 'p1', '--timeout', '50ms'], { plane: toy })
    expect({ code, why: stderr.split('\n')[0] }).toEqual({ code: 7, why: 'PROVISIONING: No host has room: needs 1 free NVIDIA L4.' })
  })

  it('[CMD-15] [DRY-16] --plan asks the same verb for its effect, and changes nothing', async () => {
    const effect = {
      kind: 'DELETES',
      resource: { kind: 'pod', id: 'a1b2c3d4e5f6g7', name: 'box' },
      what: 'its disk is lost',
      severity: 'LOSS',
      amount: null,
    }
    const plan = (refusal: object | null) => ({
      body: { action: 'pods.terminate', resource: effect.resource, effects: refusal === null ? [effect] : [], refusal },
    })
    const toy = await at({
      'DELETE /v2/pods/a1b2c3d4e5f6g7?dryRun=true': plan(null),
      'DELETE /v2/serverless/e1b2c3d4e5f6g7?dryRun=true': plan({ title: 'Conflict', status: 409, detail: 'it is in use' }),
      'POST /admin/v1/hosts/h1b2c3d4e5f6g7/drain?dryRun=true': plan(null),
    })
    expect(await podplane(['pods', 'delete', 'a1b2c3d4e5f6g7', '--plan'], { plane: toy })).toEqual({
      code: 0,
      stdout: 'LOSS\tpod\ta1b2c3d4e5f6g7\tits disk is lost\n',
      stderr: '',
    })
    expect(await podplane(['endpoints', 'delete', 'e1b2c3d4e5f6g7', '--plan'], { plane: toy })).toEqual({
      code: 5,
      stdout: '',
      stderr: 'the plane would refuse the change: it is in use\n',
    })
    expect(
      (
        await podplane(['hosts', 'drain', 'h1b2c3d4e5f6g7', '--plan', '--json', 'action'], {
          plane: toy,
          env: { PODPLANE_OPERATOR_KEY: 'ppo_key' },
        })
      ).stdout,
    ).toContain('pods.terminate')
    const user = { kind: 'pod', id: 'a1b2c3d4e5f6g7', name: 'box' }
    const inUse = { ...plan({ title: 'Bad Request', status: 400, detail: 'volume is in use by a pod' }).body, inTheWay: [user] }
    const kept = await at({
      'DELETE /v2/network-volumes/v1b2c3d4e5f6g7?dryRun=true': { body: inUse },
      'DELETE /v2/clusters/c1b2c3d4e5f6g7?dryRun=true': plan(null),
      'DELETE /v2/account/keys/k1b2c3d4?dryRun=true': plan(null),
    })
    expect(await podplane(['volumes', 'delete', 'v1b2c3d4e5f6g7', '--plan'], { plane: kept })).toEqual({
      code: 5,
      stdout: '',
      stderr: 'the plane would refuse the change: volume is in use by a pod\nblocked by: pod a1b2c3d4e5f6g7 (box)\n',
    })
    expect((await podplane(['clusters', 'delete', 'c1b2c3d4e5f6g7', '--plan'], { plane: kept })).code).toBe(0)
    expect((await podplane(['keys', 'delete', 'k1b2c3d4', '--plan'], { plane: kept })).code).toBe(0)
    for (const one of [toy, kept]) expect(one.asked.every(({ url }) => url.endsWith('?dryRun=true'))).toBe(true)
  })

  it('[CMD-16] jobs are filtered on the plane; a time line has a line an attempt', async () => {
    const attempt = {
      attempt: 1,
      worker: { id: 'w1' },
      outcome: 'COMPLETED',
      phases: [{ phase: 'RUNNING', ms: 12 }],
      costUsd: 0.001,
      reason: null,
    }
    const toy = await at({
      'GET /v2/e1b2c3d4e5f6g7/requests': {
        body: { requests: [{ id: 'j1', status: 'FAILED', createdAt: '2026-06-01T11:00:00Z' }], pagination: LAST },
      },
      'GET /v2/e1b2c3d4e5f6g7/timeline/j1': {
        body: { id: 'j1', status: 'COMPLETED', createdAt: 'a', finishedAt: 'b', costUsd: 0.001, attempts: [attempt] },
      },
    })
    expect(
      (await podplane(['jobs', 'list', 'e1b2c3d4e5f6g7', '--status', 'FAILED', '--since', '1d', '--id', 'j', '-q'], { plane: toy })).stdout,
    ).toBe('j1\n')
    expect(Object.fromEntries(new URLSearchParams(toy.asked[0]?.url.split('?')[1]))).toEqual({
      limit: '100',
      status: 'FAILED',
      from: expect.stringMatching(/^2026-05-31T12/),
      id: 'j',
    })
    const { stdout, stderr } = await podplane(['jobs', 'timeline', 'e1b2c3d4e5f6g7', 'j1'], { plane: toy })
    expect({ stdout, stderr }).toEqual({
      stdout: '1\tCOMPLETED\tw1\tRUNNING 12 ms\t0.001\t\n',
      stderr: 'COMPLETED, created at a, ended at b, $0.001\n',
    })
  })

  it('[CMD-16] metrics are bars for people and points for pipes', async () => {
    expect([sparkline([0, 50, null, 100]), sparkline([]), sparkline([0, 0]), sparkline(Array(80).fill(1)).length]).toEqual([
      '▁▅ █',
      '',
      '▁▁',
      40,
    ])
    const toy = await at({
      'GET /v2/pods/p1/metrics': {
        body: { from: '2026-06-01T11:00:00Z', step: 60, series: [{ name: 'gpu', unit: 'percent', gpu: 0, points: [1, null] }] },
      },
    })
    expect((await podplane(['pods', 'metrics', 'p1'], { plane: toy })).stdout).toBe(
      '2026-06-01T11:00:00.000Z\tgpu 0\tpercent\t1\n2026-06-01T11:01:00.000Z\tgpu 0\tpercent\t\n',
    )
  })

  it('[CMD-16] the time line of an endpoint has a line an event', async () => {
    const event = {
      at: '2026-06-01T11:59:00.000Z',
      kind: 'WORKER',
      workerId: 'w1',
      phase: 'READY',
      reason: null,
      release: 1,
      decision: null,
    }
    const scaling = { ...event, kind: 'SCALING', workerId: null, phase: null, decision: { current: 0, desired: 2, reason: 'jobs wait' } }
    const release = { ...event, kind: 'RELEASE', workerId: null, phase: null, release: 3 }
    const toy = await at({
      'GET /v2/serverless/e1/timeline': { body: { series: [], events: [event, scaling, release], pagination: LAST } },
    })
    const { stdout } = await podplane(['endpoints', 'timeline', 'e1'], { plane: toy })
    expect(stdout.split('\n').map((line) => line.split('\t').slice(1).join('|'))).toEqual([
      'WORKER|worker w1 READY|',
      'SCALING|0 to 2 workers|jobs wait',
      'RELEASE|release 3|',
      '',
    ])
  })

  it('[CMD-2] spend and usage are sorted by cost', async () => {
    const item = {
      kind: 'POD',
      id: 'p1',
      name: 'box',
      perHour: 0.5,
      costToday: 1,
      costThisMonth: 2,
      idleCount: 0,
      idleSince: null,
      idleWaste: null,
    }
    const toy = await at({ 'GET /v2/spend': { body: { perHour: 0.5, today: { spent: 1 }, month: { spent: 2 }, items: [item] } } })
    expect(await podplane(['spend'], { plane: toy })).toEqual({
      code: 0,
      stdout: 'POD\tp1\tbox\t0.5\t1\t2\t\t\t\n',
      stderr: '$0.500/h now, $1.00 today, $2.00 this month\n',
    })
    expect((await podplane(['usage', '--by', 'moon'], { plane: toy })).code).toBe(2)
  })
})
