import { isObjectType } from 'graphql'
import { SCOPES } from '../../../src/domain/access.ts'
import { RESOLVERS } from '../../../src/http/graphql/resolvers/resolvers.ts'
import { snapshot, type Victim } from '../../support/access/victims.ts'
import { type Account, createAccount, createKey, describe, expect, it } from '../../support/harness.ts'
import { ClusterScene, networked } from '../../support/hosts/cluster-scene.ts'
import { GPU } from '../../support/hosts/gpus.ts'
import { graphql } from '../../support/http/graphql.ts'
import { SCHEMA } from '../../support/http/graphql-schema/fields.ts'

// Every field below the roots and `myself` that is not a plain property read × every kind of caller, along every path to it: a caller must
// not reach through a path what they cannot read directly.

type Sees = (scopes: ReadonlySet<string>) => boolean
/** The places of a field in the replies to the two documents, and whether a key with given scopes sees it there. */
type Places = Readonly<Record<string, Sees>>

const has =
  (...wanted: string[]): Sees =>
  (scopes) =>
    wanted.every((scope) => scopes.has(scope))
const knowsPod: Sees = (scopes) => scopes.has('pods:read') || scopes.has('pods:write')
const ofMember: Sees = (scopes) => scopes.has('clusters:read') && knowsPod(scopes)
const everybody = () => true
/** Catalog fields: readable without a key and the same for all callers. */
const offered = (...paths: string[]): Places => Object.fromEntries(paths.map((path) => [path, everybody]))
const onPods = (field: string): Places => ({
  [`myself.pods.0.${field}`]: has('pods:read'),
  [`pod.${field}`]: has('pods:read'),
  [`myself.cluster.pods.0.${field}`]: ofMember,
  [`myself.clusters.0.pods.0.${field}`]: ofMember,
})

const ROWS: Readonly<Record<string, Places>> = {
  'Pod.podType': onPods('podType'),
  'Pod.machineId': onPods('machineId'),
  'PodMachineInfo.podHostId': onPods('machine.podHostId'),
  'PodTemplate.isRunpod': { 'myself.podTemplates.0.isRunpod': has('templates:read'), 'podTemplate.isRunpod': everybody },
  'Endpoint.pods': {
    'myself.endpoints.0.pods': has('serverless:read'),
    'myself.endpoint.pods': has('serverless:read'),
    'saveEndpoint.pods': has('serverless:write', 'serverless:read'),
    'updateUserSettings.endpoints.0.pods': has('account:write', 'serverless:read'),
  },
  'Endpoint.networkVolume': {
    'myself.endpoints.0.networkVolume': has('serverless:read', 'volumes:read'),
    'myself.endpoint.networkVolume': has('serverless:read', 'volumes:read'),
    'saveEndpoint.networkVolume': has('serverless:write', 'volumes:read'),
  },
  'NetworkVolume.dataCenter': {
    'myself.endpoints.0.networkVolume.dataCenter': has('serverless:read', 'volumes:read'),
    'myself.endpoint.networkVolume.dataCenter': has('serverless:read', 'volumes:read'),
    'saveEndpoint.networkVolume.dataCenter': has('serverless:write', 'volumes:read'),
  },
  'Cluster.pods': {
    'myself.cluster.pods.0.id': has('clusters:read'),
    'myself.clusters.0.pods.0.id': has('clusters:read'),
    'updateUserSettings.clusters.0.pods.0.id': has('account:write', 'clusters:read'),
  },
  'GpuType.lowestPrice': offered('gpuTypes.0.lowestPrice'),
  'GpuType.minPodGpuCount': offered('gpuTypes.0.minPodGpuCount'),
  'GpuType.clusterPrice': offered('gpuTypes.0.clusterPrice'),
  'GpuType.nodeGroupDatacenters': offered('gpuTypes.0.nodeGroupDatacenters'),
  'LowestPrice.availableGpuCounts': offered('gpuTypes.0.lowestPrice.availableGpuCounts'),
  'LowestPrice.maxUnreservedGpuCount': offered('gpuTypes.0.lowestPrice.maxUnreservedGpuCount'),
  'LowestPrice.countryCode': offered('gpuTypes.0.lowestPrice.countryCode'),
  'CpuFlavor.specifics': offered('cpuFlavors.0.specifics'),
  'DataCenter.gpuAvailability': offered('dataCenters.0.gpuAvailability'),
  'DataCenter.listed': offered('dataCenters.0.listed'),
}

/** Fields with arguments, with a resolver or with an access directive. The roots and `myself` have a matrix of their own. */
function nestedFields(): string[] {
  const types = Object.values(SCHEMA.getTypeMap()).filter(isObjectType)
  return types
    .filter(({ name }) => !name.startsWith('__') && !['Query', 'Mutation', 'User'].includes(name))
    .flatMap((type) =>
      Object.values(type.getFields()).flatMap(({ name, args, astNode }) => {
        const isGuarded = astNode?.directives?.some((one) => one.name.value === 'scope' || one.name.value === 'public')
        return args.length > 0 || isGuarded || RESOLVERS[type.name]?.[name] ? [`${type.name}.${name}`] : []
      }),
    )
}

interface Ids {
  pod: string
  endpoint: string
  cluster: string
  template: string
}
const POD = '{ id podType machineId machine { podHostId } }'
const ENDPOINT = '{ id pods { id } networkVolume { id dataCenter { id } } }'
const readAll = ({ pod, endpoint, cluster, template }: Ids) => `{
  myself { pods ${POD} podTemplates { isRunpod } endpoints ${ENDPOINT} endpoint(id: "${endpoint}") ${ENDPOINT}
    cluster(input: {id: "${cluster}"}) { id pods ${POD} } clusters { id pods ${POD} } }
  pod(input: {podId: "${pod}"}) ${POD}
  podTemplate(id: "${template}") { isRunpod }
  gpuTypes(input: {id: "${GPU}"}) { minPodGpuCount clusterPrice nodeGroupDatacenters { id }
    lowestPrice(input: {secureCloud: true, countryCode: "DE"}) { availableGpuCounts maxUnreservedGpuCount countryCode } }
  cpuFlavors(input: {id: "cpu3c"}) { specifics(input: {}) { securePrice } }
  dataCenters { listed gpuAvailability { id } } }`
/** Mutations that change nothing; the fields of their replies are tested. */
const saveAll = ({ endpoint }: Ids) => `mutation { saveEndpoint(input: {id: "${endpoint}"}) ${ENDPOINT}
  updateUserSettings(input: {}) { id endpoints ${ENDPOINT} clusters { id pods ${POD} } } }`

function valueAt(data: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((value, name) => (value as Record<string, unknown> | null | undefined)?.[name], data) ?? null
}

/** The values in both replies, at every place of every row. */
async function received(key: string | null, ids: Ids): Promise<Record<string, unknown>> {
  const [read, saved] = [await graphql(key)(readAll(ids)), await graphql(key)(saveAll(ids))]
  expect([read.status, saved.status]).toEqual([200, 200])
  const data = { ...read.body.data, ...saved.body.data }
  return Object.fromEntries(Object.values(ROWS).flatMap((places) => Object.keys(places).map((path) => [path, valueAt(data, path)])))
}

async function setUp(): Promise<{ account: Account; ids: Ids; victim: Victim; scene: ClusterScene }> {
  const scene = await ClusterScene.open(2, (index) => networked(`192.0.2.${index + 1}`, 2))
  const { account, call } = scene
  const cluster = await scene.create({ compute: { gpuTypeId: GPU, gpuCountPerPod: 1, podCount: 2 } })
  const pod = await call.post('/v2/pods', { name: 'p', image: 'acme/idle:1', gpu: { id: GPU }, dataCenterIds: [scene.dataCenterId] })
  const volume = await call.post('/v2/network-volumes', { name: 'v', size: 10, dataCenter: 'US-KS-2' })
  const workers = { min: 0, max: 1 }
  const endpoint = await call.post('/v2/serverless', {
    ...{ name: 'e', image: 'acme/worker:1', gpu: { pools: ['AMPERE_24'] }, workers, networkVolumes: [volume.body.id] },
  })
  await call.post('/v2/templates', { name: crypto.randomUUID(), image: 'acme/idle:1' })
  expect([pod.status, volume.status, endpoint.status]).toEqual([201, 201, 201])
  const ids = { pod: pod.body.id, endpoint: endpoint.body.id, cluster: cluster.id, template: 'runpod-ubuntu' }
  const reads = [`/v2/pods/${ids.pod}`, `/v2/serverless/${ids.endpoint}`, `/v2/clusters/${ids.cluster}`]
  const victim = { owner: account, params: {}, reads, objectId: ids.endpoint }
  return { account, ids, victim, scene }
}

describe('[GQL-45] fields below the roots', () => {
  it('each has a row', () => {
    expect(nestedFields().toSorted()).toEqual(Object.keys(ROWS).toSorted())
  })

  it('each is visible to every caller who could read it directly, and to no other', async () => {
    const { account, ids, victim, scene } = await setUp()
    const all = await received(account.key, ids)
    // With all scopes every value is present.
    expect(Object.entries(all).filter(([, value]) => value === null)).toEqual([])
    const restricted = async (name: string, scopes: readonly string[]) => {
      return { name, key: (await createKey(account.userId, { permission: 'RESTRICTED', scopes })).key, scopes: new Set(scopes) }
    }
    const callers: { name: string; key: string | null; scopes: ReadonlySet<string> }[] = [
      { name: 'nobody', key: null, scopes: new Set() },
      { name: 'another account', key: (await createAccount()).key, scopes: new Set() },
      await restricted(
        'reads',
        SCOPES.filter((scope) => scope.endsWith(':read')),
      ),
    ]
    for (const scope of SCOPES) {
      callers.push(await restricted(`${scope} alone`, [scope]))
      callers.push(
        await restricted(
          `all but ${scope}`,
          SCOPES.filter((other) => other !== scope),
        ),
      )
    }
    const before = await snapshot(victim)
    let cells = 0
    for (const { name, key, scopes } of callers) {
      const seen = await received(key, ids)
      for (const [field, places] of Object.entries(ROWS)) {
        const expected = Object.entries(places).map(([path, sees]) => [path, sees(scopes) ? all[path] : null])
        expect({ name, field, ...Object.fromEntries(Object.keys(places).map((path) => [path, seen[path]])) }).toEqual({
          ...{ name, field },
          ...Object.fromEntries(expected),
        })
        cells += expected.length
      }
      // Only a key without scopes must leave the rows unchanged; keys with write scopes may change them.
      if (scopes.size === 0) expect({ name, rows: await snapshot(victim) }).toEqual({ name, rows: before })
    }
    console.info(`nested fields of GraphQL: ${callers.length} callers, ${cells} cells`)
    expect(cells).toBeGreaterThan(1_000)
    for (const host of scene.hosts) host.leave()
  }, 600_000)
})
