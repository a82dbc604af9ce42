import {
  api,
  createAccount,
  createKey,
  createKeyIn,
  createOrganization,
  describe,
  endpointBody,
  env,
  expect,
  it,
  joinTeam,
  runInDurableObject,
} from '../../support/harness.ts'
import { CLUSTERS, clusterBody } from '../../support/hosts/cluster-scene.ts'
import { gpus } from '../../support/hosts/gpus.ts'
import { graphql } from '../../support/http/graphql.ts'
import { v1 } from '../../support/http/v1.ts'
import { PODS, type PodScene, podBody, podScene } from '../../support/pods/pod-scene.ts'
import { run, setUpQueue } from '../../support/queue/queue.ts'
import { endpointStub } from '../../support/runner/stubs.ts'

const [SECRETS, TEMPLATES, ENDPOINTS] = ['/v2/account/secrets', '/v2/templates', '/v2/serverless']
/** A GPU type that no host of another test has. */
const TYPE = 'NVIDIA RTX A5000'
const TOPA = '{{ RUNPOD_SECRET_TOPA }}'
const STOLEN = { STOLEN: TOPA }
const CANARY = 'canary-topa-777'
const REFUSAL =
  '$.env: a reference to the secret TOPA requires the scope account:read, which the key lacks; remove the reference or use a key with that scope'

const putSecret = async (key: string, name = 'TOPA', value = CANARY) =>
  expect((await api(key).post(SECRETS, { name, value })).status).toBe(201)
const restricted = async (userId: string, ...scopes: string[]) => (await createKey(userId, { permission: 'RESTRICTED', scopes })).key
const body = (changes: Record<string, unknown> = {}) => podBody({ gpu: { id: TYPE }, ...changes })
const workloadOf = ({ host }: PodScene, id: string, generation = 1) => host.waitFor((workload) => workload.id === `${id}-${generation}`)

async function withScene(test: (scene: PodScene) => Promise<void>): Promise<void> {
  const scene = await podScene(gpus(4, TYPE))
  try {
    await putSecret(scene.account.key)
    await test(scene)
  } finally {
    scene.leave()
  }
}

const create = (scene: PodScene, variables: Record<string, string>) => scene.create({ gpu: { id: TYPE }, env: variables })
/** The grants of a row, as D1 stores them. */
async function grantsOf(table: 'pods' | 'endpoints' | 'templates', id: string): Promise<unknown> {
  const column = table === 'pods' ? 'spec' : 'config'
  const text = await env.DB.prepare(`SELECT ${column} ->> '$.container.secretGrants' AS text FROM ${table} WHERE id = ?`)
    .bind(id)
    .first('text')
  return text === null ? null : JSON.parse(String(text))
}

describe('a secret', () => {
  it('[S1] [CAP-10] cannot be named anew over any interface by a key that may not read secrets, and nothing is changed or shown', () =>
    withScene(async (scene) => {
      const { userId, key } = scene.account
      const owner = api(key)
      const pod = await create(scene, { PLAIN: '1' })
      const template = (await owner.post(TEMPLATES, { name: 't', image: 'acme/x:1' })).body
      const endpoint = (await owner.post(ENDPOINTS, endpointBody())).body
      const everything = ['pods', 'clusters', 'serverless', 'templates'].flatMap((word) => [`${word}:read`, `${word}:write`])
      const thief = await restricted(userId, ...everything)
      const [rest, old, ask] = [api(thief), v1(thief), graphql(thief)]
      const state = async () => [
        (await owner.get(`${PODS}/${pod.id}`)).body,
        (await owner.get(PODS)).body,
        (await owner.get(CLUSTERS)).body,
        (await owner.get(TEMPLATES)).body,
        (await owner.get(ENDPOINTS)).body,
      ]
      const before = await state()
      const cluster = clusterBody({ compute: { gpuTypeId: TYPE, gpuCountPerPod: 1, podCount: 2 }, env: STOLEN })
      for (const [name, reply] of Object.entries({
        pod: await rest.post(PODS, body({ env: STOLEN })),
        'pod preview': await rest.post(`${PODS}?dryRun=true`, body({ env: STOLEN })),
        'pod change': await rest.patch(`${PODS}/${pod.id}`, { env: STOLEN, cmd: ['sh', '-c', 'echo $STOLEN'] }),
        'pod plan': await rest.patch(`${PODS}/${pod.id}?dryRun=true`, { env: STOLEN }),
        cluster: await rest.post(CLUSTERS, cluster),
        'cluster preview': await rest.post(`${CLUSTERS}?dryRun=true`, cluster),
        template: await rest.post(TEMPLATES, { name: 'u', image: 'acme/x:1', env: STOLEN }),
        'template change': await rest.patch(`${TEMPLATES}/${template.id}`, { env: STOLEN }),
        'template plan': await rest.patch(`${TEMPLATES}/${template.id}?dryRun=true`, { env: STOLEN }),
        endpoint: await rest.post(ENDPOINTS, endpointBody({ env: STOLEN })),
        'endpoint preview': await rest.post(`${ENDPOINTS}?dryRun=true`, endpointBody({ env: STOLEN })),
        'endpoint change': await rest.patch(`${ENDPOINTS}/${endpoint.id}`, { env: STOLEN }),
        'endpoint plan': await rest.patch(`${ENDPOINTS}/${endpoint.id}?dryRun=true`, { env: STOLEN }),
      })) {
        expect(reply, name).toMatchObject({ status: 403, body: { errors: [REFUSAL] } })
      }
      const image = { name: 'v1', imageName: 'acme/x:1', env: STOLEN }
      for (const [name, reply] of Object.entries({
        pod: await old.post('/pods', { ...image, gpuTypeIds: [TYPE] }),
        'pod change': await old.patch(`/pods/${pod.id}`, { env: STOLEN }),
        'pod update': await old.post(`/pods/${pod.id}/update`, { env: STOLEN }),
        template: await old.post('/templates', image),
        'template change': await old.patch(`/templates/${template.id}`, { env: STOLEN }),
      })) {
        expect(reply.status, `v1 ${name} ${JSON.stringify(reply.body)}`).toBe(403)
      }
      const variables = `env: [{key: "STOLEN", value: "${TOPA}"}]`
      for (const mutation of [
        `podFindAndDeployOnDemand(input: {name: "g", imageName: "acme/x:1", gpuTypeId: "${TYPE}", cloudType: SECURE, ${variables}}) { id }`,
        `podEditJob(input: {podId: "${pod.id}", ${variables}}) { id }`,
        `saveTemplate(input: {name: "g", imageName: "i", dockerArgs: "", containerDiskInGb: 5, volumeInGb: 0, ${variables}}) { id }`,
        `saveTemplate(input: {id: "${template.id}", ${variables}}) { id }`,
        `createCluster(input: {clusterName: "g", gpuTypeId: "${TYPE}", podCount: 2, gpuCountPerPod: 1, type: "TRAINING", imageName: "i", ${variables}}) { id }`,
      ]) {
        const { body: answer } = await ask(`mutation { ${mutation} }`)
        expect(answer.errors?.[0]?.message, mutation).toContain('TOPA')
        expect(answer.errors?.[0]?.message, mutation).toContain('account:read')
      }
      expect(await state()).toEqual(before)
      const workload = await workloadOf(scene, pod.id)
      expect(JSON.stringify([before, workload.env, workload.platformEnv])).not.toContain(CANARY)
    }))

  it('[CAP-10] that was granted stays so for a later writer without the scope, who adds none and restores no omitted one', () =>
    withScene(async (scene) => {
      const { userId, key } = scene.account
      await putSecret(key, 'SECOND', 'canary-second')
      const pod = await create(scene, { A: `<${TOPA}>` })
      expect(await grantsOf('pods', pod.id)).toEqual({ TOPA: userId })
      const writer = api(await restricted(userId, 'pods:read', 'pods:write'))
      const change = (variables: object) => writer.patch(`${PODS}/${pod.id}`, { env: variables })
      expect((await writer.patch(`${PODS}/${pod.id}`, { name: 'renamed' })).status).toBe(200)
      expect((await change({ A: `<${TOPA}>`, B: '{{ RUNPOD_SECRET_SECOND }}' })).status).toBe(403)
      expect((await change({ B: `[${TOPA}]`, PLAIN: '1' })).status).toBe(200)
      expect((await workloadOf(scene, pod.id, 2)).env).toMatchObject({ B: `[${CANARY}]`, PLAIN: '1' })
      expect(await grantsOf('pods', pod.id)).toEqual({ TOPA: userId })
      await scene.run(pod.id, 2)
      expect((await writer.post(`${PODS}/${pod.id}/action`, { action: 'restart' })).status).toBe(200)
      expect((await workloadOf(scene, pod.id, 3)).env).toMatchObject({ B: `[${CANARY}]` })
      expect((await change({ PLAIN: '1' })).status).toBe(200)
      expect(await grantsOf('pods', pod.id)).toEqual({})
      expect((await change({ B: TOPA })).status).toBe(403)
      expect((await scene.get(pod.id)).env).toEqual({ PLAIN: '1' })
    }))

  it('[CAP-10] is granted by a session or key of a DEV, and by a RESTRICTED key with account:read', () =>
    withScene(async (scene) => {
      const dev = await createAccount()
      const organization = await createOrganization(scene.account.key)
      await joinTeam(organization, dev, 'DEV')
      const own = await createKeyIn(organization, scene.account)
      await putSecret(own.key)
      const { key } = await createKeyIn(organization, dev)
      const made = await api(key).post(TEMPLATES, { name: 't', image: 'acme/x:1', env: STOLEN })
      expect(made.status).toBe(201)
      expect(await grantsOf('templates', made.body.id)).toEqual({ TOPA: dev.userId })
      const narrow = await restricted(scene.account.userId, 'serverless:write', 'account:read')
      const endpoint = await api(narrow).post(ENDPOINTS, endpointBody({ env: STOLEN }))
      expect(endpoint.status).toBe(201)
      expect(await grantsOf('endpoints', endpoint.body.id)).toEqual({ TOPA: scene.account.userId })
    }))
})

describe('a reference without a grant', () => {
  const discard = (table: 'pods' | 'endpoints', path: string, id: string) =>
    env.DB.prepare(`UPDATE ${table} SET ${path} = json_set(${path}, '$.container.secretGrants', json('{}')) WHERE id = ?`).bind(id).run()
  const REASON = 'env refers to secrets without a grant: TOPA; set env again with a key that has the scope account:read'

  it('[S1] [CAP-11] does not resolve when a pod starts: it is ERROR with the reason, and starts once it was granted', () =>
    withScene(async (scene) => {
      const pod = await create(scene, STOLEN)
      await scene.run(pod.id)
      await discard('pods', 'spec', pod.id)
      expect((await scene.act(pod.id, 'restart')).status).toBe(200)
      const failed = await scene.call.get(`${PODS}/${pod.id}?waitFor=ERROR`)
      expect(failed.body).toMatchObject({ status: 'ERROR', statusReason: REASON })
      expect((await scene.call.patch(`${PODS}/${pod.id}`, { env: { NAMED: TOPA } })).status).toBe(200)
      expect((await scene.act(pod.id, 'start')).status).toBeLessThan(410)
      expect((await scene.host.waitFor(({ id, env: given }) => id.startsWith(pod.id) && 'NAMED' in given)).env.NAMED).toBe(CANARY)
    }))

  it('[CAP-11] keeps the workers of an endpoint waiting, with the reason', async () => {
    const queue = await setUpQueue({ env: STOLEN })
    await putSecret(queue.account.key)
    await runInDurableObject(endpointStub(env, queue.endpointId), (object) => {
      const { meta } = (
        object as unknown as { core: { state: { meta: { config(): { container: object }; setConfig(config: object): void } } } }
      ).core.state
      const config = meta.config()
      meta.setConfig({ ...config, container: { ...config.container, secretGrants: {} } })
    })
    const jobId = await run(queue)
    await expect.poll(async () => JSON.stringify((await queue.get(`/explain/${jobId}`)).body), { timeout: 10_000 }).toContain(REASON)
  })
})

describe('a row of a release without grants', () => {
  it('[CAP-12] counts its names as granted, and no more', () =>
    withScene(async (scene) => {
      const { userId, key } = scene.account
      await putSecret(key, 'SECOND', 'canary-second')
      const pod = await create(scene, STOLEN)
      await env.DB.prepare("UPDATE pods SET spec = json_remove(spec, '$.container.secretGrants') WHERE id = ?").bind(pod.id).run()
      expect(await grantsOf('pods', pod.id)).toBeNull()
      const writer = api(await restricted(userId, 'pods:read', 'pods:write'))
      expect((await writer.patch(`${PODS}/${pod.id}`, { env: { ...STOLEN, MORE: '{{ RUNPOD_SECRET_SECOND }}' } })).status).toBe(403)
      expect(await grantsOf('pods', pod.id)).toBeNull()
      expect((await writer.patch(`${PODS}/${pod.id}`, { env: { ...STOLEN, PLAIN: '1' } })).status).toBe(200)
      expect((await workloadOf(scene, pod.id, 2)).env).toMatchObject({ STOLEN: CANARY, PLAIN: '1' })
      expect(await grantsOf('pods', pod.id)).toEqual({ TOPA: '' })
    }))
})

describe('a template', () => {
  it('[CAP-13] of the own account passes its grants on, to pods and endpoints, also of a key that grants nothing', () =>
    withScene(async (scene) => {
      const { userId, key } = scene.account
      const make = async (serverless: boolean) =>
        (await api(key).post(TEMPLATES, { name: `t${serverless}`, image: 'acme/x:1', env: STOLEN, serverless })).body.id
      const [forPods, forEndpoints] = [await make(false), await make(true)]
      const deployer = api(await restricted(userId, 'pods:read', 'pods:write', 'serverless:write', 'templates:read'))
      const pod = await deployer.post(PODS, body({ image: undefined, templateId: forPods }))
      expect(pod.status).toBe(201)
      expect((await workloadOf(scene, pod.body.id)).env).toMatchObject({ STOLEN: CANARY })
      const endpoint = await deployer.post(ENDPOINTS, endpointBody({ image: undefined, templateId: forEndpoints }))
      expect(endpoint.status).toBe(201)
      expect(await grantsOf('endpoints', endpoint.body.id)).toEqual({ TOPA: userId })
      const more = await deployer.post(PODS, body({ image: undefined, templateId: forPods, env: { B: '{{ RUNPOD_SECRET_OTHER }}' } }))
      expect(more.status).toBe(403)
    }))

  it('[S1] [CAP-13] of another account grants nothing: its user needs the scope', () =>
    withScene(async (scene) => {
      const author = await createAccount()
      const shared = { name: 'shared', image: 'acme/x:1', env: STOLEN, public: true }
      const { id } = (await api(author.key).post(TEMPLATES, shared)).body
      const { userId } = scene.account
      const narrow = api(await restricted(userId, 'pods:read', 'pods:write'))
      const wanted = body({ image: undefined, templateId: id })
      expect(await narrow.post(PODS, wanted)).toMatchObject({ status: 403, body: { errors: [REFUSAL] } })
      const serverless = (await api(author.key).post(TEMPLATES, { ...shared, name: 'workers', serverless: true })).body.id
      const endpoint = (await scene.call.post(ENDPOINTS, endpointBody())).body.id
      const maker = await restricted(userId, 'pods:write', 'serverless:write', 'serverless:read', 'clusters:write')
      const compute = { gpuTypeId: TYPE, gpuCountPerPod: 1, podCount: 2 }
      for (const reply of [
        await api(maker).post(CLUSTERS, clusterBody({ image: undefined, templateId: id, compute })),
        await api(maker).post(ENDPOINTS, endpointBody({ image: undefined, templateId: serverless })),
        await api(maker).patch(`${ENDPOINTS}/${endpoint}`, { templateId: serverless }),
        await v1(maker).post('/endpoints', { name: 'e', templateId: serverless, gpuTypeIds: [TYPE] }),
      ]) {
        expect(reply.status, JSON.stringify(reply.body)).toBe(403)
      }
      for (const mutation of [
        `saveEndpoint(input: {name: "e", templateId: "${serverless}", gpuIds: "ADA_24"}) { id }`,
        `updateEndpointTemplate(input: {endpointId: "${endpoint}", templateId: "${serverless}"}) { id }`,
      ]) {
        const { errors } = (await graphql(maker)(`mutation { ${mutation} }`)).body
        expect(errors?.[0]?.message, mutation).toContain('a reference to the secret TOPA')
      }
      expect((await scene.call.get(PODS)).body.pods).toEqual([])
      expect((await scene.call.get(ENDPOINTS)).body.endpoints).toMatchObject([{ id: endpoint, env: {} }])
      const made = await scene.call.post(PODS, wanted)
      expect(made.status).toBe(201)
      expect(await grantsOf('pods', made.body.id)).toEqual({ TOPA: userId })
      expect((await workloadOf(scene, made.body.id)).env).toMatchObject({ STOLEN: CANARY })
    }))
})
