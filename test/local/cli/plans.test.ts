import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PROJECT_ROOT } from '../../../src/local/paths.ts'
import { afterEach, describe, expect, it } from '../../support/unit.ts'
import { podplane, ToyPlane } from './terminal.ts'

// Every operation that takes `dryRun` has a command that asks it: `--plan`, or `--dry-run` where a resource is created.

const ID = 'a1b2c3d4e5f6g7'
const IDS = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAAAAAAAAAAAAAAAone ada@example.com'

/** The command line of each. */
const COMMANDS: Readonly<Record<string, string[]>> = {
  createPod: ['pods', 'create', '--image', 'acme/idle:1', '--gpu', 'NVIDIA L4', '--dry-run'],
  updatePod: ['pods', 'update', ID, '--body', '{"name":"n"}', '--plan'],
  actOnPod: ['pods', 'stop', ID, '--plan'],
  deletePod: ['pods', 'delete', ID, '--plan'],
  updateEndpoint: ['endpoints', 'update', ID, '--body', '{"name":"n"}', '--plan'],
  deleteEndpoint: ['endpoints', 'delete', ID, '--plan'],
  createCluster: ['clusters', 'create', '--body', '{"name":"c"}', '--dry-run'],
  deleteCluster: ['clusters', 'delete', ID, '--plan'],
  updateTemplate: ['templates', 'update', ID, '--body', '{"name":"n"}', '--plan'],
  deleteTemplate: ['templates', 'delete', ID, '--plan'],
  updateNetworkVolume: ['volumes', 'resize', ID, '200', '--plan'],
  deleteNetworkVolume: ['volumes', 'delete', ID, '--plan'],
  deleteGlobalVolume: ['global-volumes', 'delete', ID, '--plan'],
  deleteRegistry: ['registries', 'delete', ID, '--plan'],
  putSshKeys: ['ssh-keys', 'remove', 'ada@example.com', '--plan'],
  updateSecret: ['secrets', 'update', ID, '--body', '{"value":"v"}', '--plan'],
  deleteSecret: ['secrets', 'delete', ID, '--plan'],
  stopSpend: ['spend', 'stop', '--plan'],
  revokeInvitation: ['invitations', 'revoke', ID, ID, '--plan'],
  handOverOrganization: ['organizations', 'hand-over', ID, ID, '--plan'],
  updateOrganizationMember: ['members', 'set-role', ID, ID, 'DEV', '--plan'],
  removeOrganizationMember: ['members', 'remove', ID, ID, '--plan'],
  deleteOrganization: ['organizations', 'delete', ID, '--plan'],
  rotateAccountKey: ['keys', 'rotate', ID, '--plan'],
  revokeAccountKey: ['keys', 'delete', ID, '--plan'],
  cancelJobs: ['jobs', 'cancel', ID, '--status', 'IN_QUEUE', '--plan'],
  retryJobs: ['jobs', 'retry', ID, '--status', 'FAILED', '--plan'],
  revokeKey: ['admin', 'keys', 'delete', ID, '--plan'],
  setQuotas: ['admin', 'quotas', 'set', ID, '--minute', '1', '--hour', '1', '--day', '1', '--plan'],
  suspendUser: ['users', 'suspend', ID, '--plan'],
  resumeUser: ['users', 'resume', ID, '--plan'],
  suspendOrganization: ['admin', 'organizations', 'suspend', ID, '--plan'],
  resumeOrganization: ['admin', 'organizations', 'resume', ID, '--plan'],
  freeIdentities: ['users', 'free-identities', ID, '--plan'],
  setIsolation: ['admin', 'isolation', 'set', ID, '--runtime-class', 'runsc', '--plan'],
  deleteUser: ['users', 'delete', ID, '--plan'],
  setBudgets: ['admin', 'budgets', 'set', ID, 'gpus=1', '--plan'],
  setPlan: ['admin', 'plans', 'set', 'research', 'gpus=1', '--plan'],
  deletePlan: ['admin', 'plans', 'delete', 'research', '--plan'],
  setUserPlan: ['admin', 'plans', 'assign', 'research', ID, '--plan'],
  setOrganizationPlan: ['admin', 'plans', 'assign', 'research', ID, '--organization', '--plan'],
  setSpendCeilings: ['admin', 'spend-limits', 'set', ID, '--per-hour', '80', '--plan'],
  putCatalogGpu: ['admin', 'catalog', 'set', 'gpus', ID, '{"offered":false}', '--plan'],
  deleteCatalogGpu: ['admin', 'catalog', 'reset', 'gpus', ID, '--plan'],
  putCatalogCpu: ['admin', 'catalog', 'set', 'cpus', ID, '{"offered":false}', '--plan'],
  deleteCatalogCpu: ['admin', 'catalog', 'reset', 'cpus', ID, '--plan'],
  putCatalogDataCenter: ['admin', 'catalog', 'set', 'datacenters', ID, '{"name":"n"}', '--plan'],
  deleteCatalogDataCenter: ['admin', 'catalog', 'reset', 'datacenters', ID, '--plan'],
  putCatalogStorage: ['admin', 'catalog', 'set', 'storage', 'persistentDisk', '{"running":1}', '--plan'],
  deleteCatalogStorage: ['admin', 'catalog', 'reset', 'storage', 'persistentDisk', '--plan'],
  putCatalogPublisher: ['admin', 'catalog', 'set', 'publishers', ID, '{"source":"official"}', '--plan'],
  deleteCatalogPublisher: ['admin', 'catalog', 'reset', 'publishers', ID, '--plan'],
  revokeJoinToken: ['join-tokens', 'revoke', ID, '--plan'],
  cordonHost: ['hosts', 'cordon', ID, '--plan'],
  drainHost: ['hosts', 'drain', ID, '--plan'],
  removeHost: ['hosts', 'remove', ID, '--plan'],
}

/** Operations without a command: `podplane api` reaches them. */
const WITHOUT_COMMAND: Readonly<Record<string, string>> = {
  createEndpoint: '`deploy --plan` asks it, with the rest of podplane.toml',
  revokeDelegation: 'no command is about delegations',
  updateSpendLimits: 'no command sets them',
  resetQuotas: 'no command takes an override back',
  endSessions: 'no command ends sessions alone; suspending does',
}

interface Documented {
  paths: Record<string, Record<string, { operationId?: string; parameters?: { name?: string }[] }>>
}

/** Method and path of the operations that take `dryRun`, by id. */
function plannable(): Map<string, string> {
  const documents = ['openapi-v2.json', 'openapi-admin-v1.json'].map(
    (name) => JSON.parse(readFileSync(join(PROJECT_ROOT, 'docs', name), 'utf8')) as Documented,
  )
  const entries = documents.flatMap(({ paths }) =>
    Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).flatMap(([method, { operationId, parameters = [] }]) =>
        operationId !== undefined && parameters.some(({ name }) => name === 'dryRun')
          ? [[operationId, `${method.toUpperCase()} ${path}`] as const]
          : [],
      ),
    ),
  )
  return new Map(entries)
}

const PLAN = {
  action: 'it.changes',
  resource: { kind: 'pod', id: ID, name: 'box' },
  effects: [{ kind: 'DELETES', resource: { kind: 'pod', id: ID, name: 'box' }, what: 'its disk is lost', severity: 'LOSS', amount: null }],
  refusal: null,
}
const REFUSED = { ...PLAN, effects: [], refusal: { title: 'Conflict', status: 409, detail: 'it is in use' } }

const operations = plannable()
/** Operations whose dry run does not answer a ChangePlan. */
const OTHER_SHAPES = new Set(['createPod', 'createCluster', 'stopSpend', 'cancelJobs', 'retryJobs'])

let toy: ToyPlane | undefined
afterEach(async () => {
  await toy?.close()
  toy = undefined
})

/** A plane that answers everything that is asked with `dryRun` with this, and knows the keys of an account. */
async function planning(answer: object): Promise<ToyPlane> {
  const routes = new Proxy(
    { 'GET /v2/account/ssh-keys': { body: { keys: [IDS] } } },
    { get: (known, name) => Reflect.get(known, name) ?? (String(name).includes('dryRun=true') ? { body: answer } : undefined) },
  )
  await toy?.close()
  toy = await ToyPlane.open(routes)
  return toy
}

/** Whether a request is of an operation. */
function isOf(operation: string | undefined, method: string, url: string): boolean {
  const [wanted, path = ''] = (operation ?? '').split(' ')
  const pattern = new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`)
  return method === wanted && pattern.test(url.split('?')[0] ?? '')
}

describe('plans of the command line', () => {
  it('[CMD-51] each operation that takes dryRun has a command, except those listed here with their reason', () => {
    expect([...operations.keys()].toSorted()).toEqual([...Object.keys(COMMANDS), ...Object.keys(WITHOUT_COMMAND)].toSorted())
  })

  it.each(Object.entries(COMMANDS).map(([id, argv]) => ({ id, argv, line: argv.join(' ') })))(
    '[CMD-51] $line changes nothing, and asks $id alone',
    async ({ id, argv }) => {
      const isOther = OTHER_SHAPES.has(id)
      const other = { fits: true, missing: [], matched: 1, items: [], stops: [], keeps: [], planId: 'x' }
      const plane = await planning(isOther ? other : PLAN)
      const { code, stdout, stderr } = await podplane(argv, { plane, env: { PODPLANE_OPERATOR_KEY: 'ppo_key' } })
      const changing = plane.asked.filter(({ method }) => method !== 'GET')
      expect(changing.length, stderr).toBeGreaterThan(0)
      for (const { method, url } of changing) {
        expect(url).toContain('dryRun=true')
        expect(isOf(operations.get(id), method, url), `${method} ${url}`).toBe(true)
      }
      if (isOther) return
      expect({ code, stdout }).toEqual({ code: 0, stdout: `LOSS\tpod\t${ID}\tits disk is lost\n` })
      const refusing = await planning(REFUSED)
      const refused = await podplane(argv, { plane: refusing, env: { PODPLANE_OPERATOR_KEY: 'ppo_key' } })
      expect(refused).toEqual({ code: 5, stdout: '', stderr: 'the plane would refuse the change: it is in use\n' })
    },
  )
})
