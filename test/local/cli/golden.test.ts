import { buildProgram } from '../../../src/cli/program.ts'
import { afterEach, describe, expect, it } from '../../support/unit.ts'
import { podplane, type Routes, ToyPlane } from './terminal.ts'

// The output of each noun, on a terminal and in a pipe, is in golden/, so that a change shows its effect on scripts.

const [P, E, O] = ['p1b2c3d4e5f6g7', 'e1b2c3d4e5f6g7', 'o1b2c3d4e5f6g7']
const AT = '2026-06-01T11:57:00Z'
const LATER = '2026-06-03T18:00:00Z'
const pagination = { nextCursor: null, hasNextPage: false }
const GPU = { id: 'NVIDIA L4', count: 2 }
const POD = {
  id: P,
  name: 'box',
  image: 'python:3.13',
  status: 'RUNNING',
  statusReason: null,
  gpu: GPU,
  cost: 0.88,
  dataCenterId: 'LOCAL-1',
  createdAt: AT,
  stopAfter: LATER,
  ports: ['22/tcp'],
  env: {},
  labels: { stage: 'test', team: 'research' },
}
const EFFECT = {
  kind: 'POD',
  id: P,
  name: 'box',
  perHour: 0.88,
  costToday: 1.5,
  costThisMonth: 20.25,
  idleSince: AT,
  idleWaste: 0.04,
  idleCount: 1,
  runningCount: 1,
}
const ADMIN = { id: 'h1', name: 'gpu-1', status: 'ONLINE', dataCenterId: 'LOCAL-1', gpus: [] }
const EVENT = {
  id: 'v1',
  at: AT,
  actor: { kind: 'KEY' },
  action: 'pods.create',
  targets: [{ kind: 'pod', id: P }],
  message: 'An API key created pod box',
}

/** By noun: the command line, and the answers of the plane. */
const GOLDEN: Readonly<Record<string, { argv: readonly string[]; routes: Routes }>> = {
  pods: {
    argv: ['list'],
    routes: {
      'GET /v2/pods': {
        body: {
          pods: [POD, { ...POD, id: 'q', name: 'a\tb', status: 'ERROR', gpu: undefined, cpu: { id: 'cpu3c', vcpuCount: 2 }, cost: 0 }],
          pagination,
        },
      },
    },
  },
  'pods get': { argv: [P], routes: { [`GET /v2/pods/${P}`]: { body: POD } } },
  endpoints: {
    argv: ['list'],
    routes: {
      'GET /v2/serverless': {
        body: {
          endpoints: [
            {
              id: E,
              name: 'chat',
              type: 'QUEUE',
              gpu: { pools: ['ADA_24', 'AMPERE_16'], count: 1 },
              workers: { min: 0, max: 3 },
              createdAt: AT,
              image: 'chat:1',
            },
          ],
          pagination,
        },
      },
    },
  },
  'endpoints workers': {
    argv: [E],
    routes: {
      [`GET /v2/serverless/${E}/workers`]: {
        body: {
          workers: [{ id: 'w1', status: 'READY', version: 3, gpuTypeId: 'NVIDIA L4', uptimeSeconds: 12, startedAt: AT, reason: null }],
        },
      },
    },
  },
  jobs: {
    argv: ['list', E],
    routes: {
      [`GET /v2/${E}/requests`]: {
        body: {
          requests: [
            { id: 'j1', status: 'COMPLETED', createdAt: AT, delayTime: 12, executionTime: 345, workerId: 'w1' },
            { id: 'j2', status: 'FAILED', createdAt: AT, delayTime: 1, executionTime: 2, workerId: 'w1', error: 'no such model' },
          ],
          pagination,
        },
      },
    },
  },
  templates: {
    argv: ['list'],
    routes: {
      'GET /v2/templates': {
        body: {
          templates: [{ id: 't1', name: 'torch', image: 'torch:2', category: 'NVIDIA', serverless: false, public: true }],
          pagination,
        },
      },
    },
  },
  volumes: {
    argv: ['list'],
    routes: {
      'GET /v2/network-volumes': {
        body: { networkVolumes: [{ id: 'v1', name: 'data', size: 100, dataCenter: 'LOCAL-1', type: 'STANDARD', usedBytes: null }] },
      },
    },
  },
  'global-volumes': { argv: ['list'], routes: { 'GET /v2/global-volumes': { body: { globalVolumes: [{ id: 'g1', name: 'shared' }] } } } },
  registries: { argv: ['list'], routes: { 'GET /v2/registries': { body: { registries: [{ id: 'r1', name: 'hub' }] } } } },
  secrets: { argv: ['list'], routes: { 'GET /v2/account/secrets': { body: { secrets: [{ id: 's1', name: 'HF', description: '' }] } } } },
  clusters: {
    argv: ['list'],
    routes: {
      'GET /v2/clusters': {
        body: {
          clusters: [
            {
              id: 'c1',
              name: 'sft',
              type: 'TRAINING',
              pods: { total: 3, byStatus: { RUNNING: 2, STARTING: 1 } },
              compute: { podCount: 3, gpuCountPerPod: 8, gpuTypeId: 'NVIDIA H100' },
              dataCenterId: 'LOCAL-1',
              createdAt: AT,
            },
          ],
        },
      },
    },
  },
  keys: {
    argv: ['list'],
    routes: { 'GET /v2/account/keys': { body: { keys: [{ id: 'k1', name: 'ci', permission: 'ALL', createdAt: AT, expiresAt: LATER }] } } },
  },
  'ssh-keys': { argv: ['list'], routes: { 'GET /v2/account/ssh-keys': { body: { keys: ['ssh-ed25519 AAAA me@example.com'] } } } },
  webhooks: {
    argv: ['list'],
    routes: {
      'GET /v2/webhooks/deliveries': {
        body: {
          deliveries: [{ id: 'd1', status: 'DELIVERED', endpointId: E, jobId: 'j1', createdAt: AT, attempts: [{}, {}] }],
          pagination,
        },
      },
    },
  },
  usage: { argv: [], routes: { 'GET /v2/billing': { body: { records: [{ startTime: AT, endTime: LATER, podAmount: 1.5, tags: {} }] } } } },
  spend: {
    argv: ['status'],
    routes: { 'GET /v2/spend': { body: { perHour: 0.88, today: { spent: 1.5 }, month: { spent: 20.25 }, items: [EFFECT] } } },
  },
  limits: { argv: [], routes: { 'GET /v2/account/limits': { body: { gpus: { limit: 16, used: 2 } } } } },
  audit: {
    argv: [],
    routes: { 'GET /v2/account/audit': { body: { entries: [{ ...EVENT, resource: { kind: 'pod', id: P } }], pagination } } },
  },
  events: { argv: [], routes: { 'GET /v2/events': { body: { events: [EVENT], pagination } } } },
  gpus: {
    argv: ['list'],
    routes: {
      'GET /v2/catalog/gpus': {
        body: { gpus: [{ id: 'NVIDIA L4', memory: 24, pool: 'ADA_24', price: { secure: 0.44, serverless: 0.69 }, availability: 'HIGH' }] },
      },
    },
  },
  cpus: {
    argv: ['list'],
    routes: {
      'GET /v2/catalog/cpus': {
        body: {
          cpus: [{ id: 'cpu3c', name: 'Compute', group: 'c', ramGbPerVcpu: 2, price: { securePerVcpu: 0.01, serverlessPerVcpu: 0.02 } }],
        },
      },
    },
  },
  'data-centers': {
    argv: ['list'],
    routes: {
      'GET /v2/catalog/datacenters': {
        body: { dataCenters: [{ id: 'LOCAL-1', name: 'Here', region: 'LOCAL', networkVolumeTypes: ['STANDARD'] }] },
      },
    },
  },
  organizations: {
    argv: ['list'],
    routes: { 'GET /v2/organizations': { body: { organizations: [{ id: O, name: 'acme', role: 'OWNER', createdAt: AT }] } } },
  },
  members: {
    argv: ['list', O],
    routes: {
      [`GET /v2/organizations/${O}`]: {
        body: { id: O, name: 'acme', members: [{ userId: 'u1', email: 'ada@example.com', role: 'OWNER', joinedAt: AT }] },
      },
    },
  },
  invitations: {
    argv: ['list', O],
    routes: {
      [`GET /v2/organizations/${O}/invitations`]: {
        body: { invitations: [{ id: 'i1', email: 'grace@example.com', role: 'DEV', createdAt: AT, expiresAt: LATER }] },
      },
    },
  },
  hosts: { argv: ['list'], routes: { 'GET /admin/v1/hosts': { body: { hosts: [ADMIN] } } } },
  users: {
    argv: ['list'],
    routes: { 'GET /admin/v1/users': { body: { users: [{ id: 'u1', email: 'ada@example.com', createdAt: AT }] } } },
  },
  'join-tokens': {
    argv: ['list'],
    routes: { 'GET /admin/v1/join-tokens': { body: { joinTokens: [{ id: 'x1', name: 'gpu-1', expiresAt: LATER, usedAt: null }] } } },
  },
  plane: {
    argv: ['doctor'],
    routes: { 'GET /admin/v1/plane': { body: { checks: [{ id: 'migrations', verdict: 'OK', evidence: '14 applied', fix: null }] } } },
  },
  admin: {
    argv: ['catalog', 'list', 'gpus'],
    routes: { 'GET /admin/v1/catalog/gpus': { body: { items: [{ id: 'NVIDIA L4', source: 'SEED', entry: {} }] } } },
  },
}
/** Commands without a list: verbs, and commands about this machine. */
const NO_LISTS = [
  'run',
  'logs',
  'exec',
  'ssh',
  'cp',
  'port-forward',
  'deploy',
  'dev',
  'init',
  'auth',
  'context',
  'env',
  'doctor',
  'api',
  'version',
  'completion',
  'help',
]

let plane: ToyPlane | undefined
afterEach(async () => {
  await plane?.close()
  plane = undefined
})

describe('the output of each noun', () => {
  for (const [noun, { argv, routes }] of Object.entries(GOLDEN)) {
    it(`[CMD-1, CMD-46, DEV-4] ${noun}, on a terminal and in a pipe`, async () => {
      const open = await ToyPlane.open(routes)
      plane = open
      const run = async (terminal: boolean, ...flags: string[]) => {
        const ran = await podplane([...noun.split(' '), ...argv, ...flags], {
          plane: open,
          terminal,
          columns: 200,
          env: { PODPLANE_OPERATOR_KEY: 'ppo_key' },
        })
        expect({ noun, code: ran.code }).toEqual({ noun, code: 0 })
        return ran
      }
      const [shown, piped, again, ids] = [await run(true), await run(false), await run(false), await run(false, '-q')]
      expect(piped.stdout).toBe(again.stdout)
      const text = `# terminal\n${shown.stdout}# said\n${shown.stderr}# pipe\n${piped.stdout}# -q\n${ids.stdout}`
      await expect(text.replaceAll('\u001b', '␛')).toMatchFileSnapshot(`golden/${noun.replace(' ', '-')}.txt`)
    })
  }

  it('[DEV-4] no noun is left out', () => {
    const nouns = buildProgram().commands.map((command) => command.name())
    const known = new Set([...Object.keys(GOLDEN), ...NO_LISTS, '__complete'])
    expect(nouns.filter((noun) => !known.has(noun))).toEqual([])
  })
})
