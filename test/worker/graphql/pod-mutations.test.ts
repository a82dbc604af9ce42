import { createApp } from '../../../src/app.ts'
import { FakeHost } from '../../support/fake-host.ts'
import { gpus } from '../../support/gpus.ts'
import { graphql } from '../../support/graphql.ts'
import { api, createAccount, createExecutionContext, describe, env, expect, it, ORIGIN } from '../../support/harness.ts'
import { PODS, podScene } from '../../support/pod-scene.ts'

const DEPLOY = `mutation($input: PodFindAndDeployOnDemandInput!) { podFindAndDeployOnDemand(input: $input) {
  id name imageName desiredStatus costPerHr containerDiskInGb volumeInGb volumeMountPath gpuCount memoryInGb vcpuCount ports env podType machine { podHostId } } }`
const ON_DEMAND = {
  name: 'b',
  imageName: 'img',
  cloudType: 'SECURE',
  gpuTypeId: 'NVIDIA L4',
  gpuCount: 2,
  containerDiskInGb: 20,
  volumeInGb: 5,
  volumeMountPath: '/workspace',
  dockerArgs: 'sleep 1',
  env: [{ key: 'A', value: '1' }],
  ports: '22/tcp,8888/http',
  minMemoryInGb: 5,
  minVcpuCount: 3,
  dataCenterId: '',
  networkVolumeId: '',
  templateId: '',
  startSsh: true,
}

describe('creating pods', () => {
  it('[GQL-23] [GQL-17] a GPU pod: REST shows what its flat names mean', async () => {
    const scene = await podScene(gpus(2, 'NVIDIA L4'))
    const { body } = await graphql(scene.account.key)(DEPLOY, { input: ON_DEMAND })
    expect(body.errors).toBeUndefined()
    const made = body.data.podFindAndDeployOnDemand
    expect(made).toMatchObject({ desiredStatus: 'RUNNING', podType: 'RESERVED', volumeInGb: 10, env: ['A=1'], ports: '22/tcp,8888/http' })
    expect(await scene.get(made.id)).toMatchObject({
      name: 'b',
      image: 'img',
      args: 'sleep 1',
      disk: 20,
      env: { A: '1' },
      ports: ['22/tcp', '8888/http'],
      cloud: 'SECURE',
      gpu: { id: 'NVIDIA L4', count: 2 },
      mounts: { persistent: { size: 10, path: '/workspace' } },
    })
    scene.leave()
  })

  it('[GQL-23] ALL takes COMMUNITY where SECURE has none, and a spot pod reads INTERRUPTABLE', async () => {
    const host = await FakeHost.join(gpus(2, 'NVIDIA A40'), { cloud: 'COMMUNITY' })
    const call = graphql((await createAccount()).key)
    const input = { ...ON_DEMAND, gpuTypeId: 'NVIDIA A40', gpuCount: 1, cloudType: 'ALL', volumeInGb: 0, bidPerGpu: 0.1 }
    const rent = 'mutation($input: PodRentInterruptableInput!) { podRentInterruptable(input: $input) { id podType desiredStatus } }'
    const { body } = await call(rent, { input })
    expect(body.errors).toBeUndefined()
    const { id } = body.data.podRentInterruptable
    expect(body.data.podRentInterruptable).toEqual({ id, podType: 'INTERRUPTABLE', desiredStatus: 'RUNNING' })
    expect((await call(`{ pod(input: {podId: "${id}"}) { podType machine { secureCloud } } }`)).body.data.pod).toEqual({
      podType: 'INTERRUPTABLE',
      machine: { secureCloud: false },
    })
    host.leave()
  })

  it('[GQL-36] a CPU pod by its instance, from the template that clients name', async () => {
    const scene = await podScene(gpus(1))
    const sent = `mutation { deployCpuPod( input: { name: "n", imageName: "img", cloudType: ALL, startSsh: true, instanceId: "cpu3c-2-4", dataCenterId: null,
      dockerArgs: "", containerDiskInGb: 10, volumeMountPath: "/runpod-volume", templateId: "runpod-ubuntu" } ) { id imageName env machineId machine { podHostId } } }`
    const { body } = await graphql(scene.account.key)(sent)
    expect(body.errors).toBeUndefined()
    expect(await scene.get(body.data.deployCpuPod.id)).toMatchObject({
      image: 'img',
      cpu: { id: 'cpu3c', vcpuCount: 2 },
      template: 'runpod-ubuntu',
    })
    scene.leave()
  })

  it('[GQL-5] what v2 refuses is told with the names of GraphQL', async () => {
    const call = graphql((await createAccount()).key)
    const messageOf = async (change: object) => (await call(DEPLOY, { input: { ...ON_DEMAND, ...change } })).body.errors[0].message
    expect(await messageOf({ imageName: 'https://x' })).toContain('$.imageName: ')
    expect(await messageOf({ gpuTypeId: null })).toContain('$.gpuTypeId: name a GPU type')
    expect(await messageOf({ volumeMountPath: 'relative' })).toContain('$.volumeMountPath: ')
    expect(await messageOf({ env: [{ key: '', value: '1' }] })).toContain('$.env')
    expect(await messageOf({ gpuTypeId: 'NVIDIA H100 NVL' })).toMatch(/no|There/)
    expect((await call('mutation { podFindAndDeployOnDemand { id } }')).body.errors[0].message).toContain("missing property 'input'")
  })
})

describe('[GQL-19] names of pods', () => {
  it('are unique among live pods that GraphQL creates, also of creates at once; REST has no such rule', async () => {
    const scene = await podScene(gpus(8, 'NVIDIA L4'))
    const call = graphql(scene.account.key)
    const input = { ...ON_DEMAND, gpuCount: 1, volumeInGb: 0 }
    const replies = await Promise.all([1, 2, 3].map(() => call(DEPLOY, { input })))
    const made = replies.flatMap(({ body }) => (body.errors ? [] : [body.data.podFindAndDeployOnDemand.id]))
    expect(made).toHaveLength(1)
    const refusals = replies.flatMap(({ body }) => body.errors ?? [])
    expect(refusals.map(({ message }) => message)).toEqual(Array(2).fill('the account has a pod b; choose another name'))
    expect((await scene.call.get(PODS)).body.pods).toHaveLength(1)
    const { results } = await env.DB.prepare('SELECT id FROM allocations WHERE team_id = ?')
      .bind(await scene.team())
      .all()
    expect(results).toHaveLength(1)
    expect((await scene.call.post(PODS, { name: 'b', image: 'img', gpu: { id: 'NVIDIA L4' } })).status).toBe(201)
    const nameless = await Promise.all([1, 2].map(() => call(DEPLOY, { input: { ...input, name: null } })))
    expect(nameless.map(({ body }) => body.errors)).toEqual([undefined, undefined])
    await scene.act(made[0], 'terminate')
    scene.leave()
  })

  it('another account may have the name, and the operator may relax it', async () => {
    const scene = await podScene(gpus(4, 'NVIDIA L4'))
    const other = await createAccount()
    const input = { ...ON_DEMAND, gpuCount: 1, volumeInGb: 0 }
    for (const key of [scene.account.key, other.key]) expect((await graphql(key)(DEPLOY, { input })).body.errors).toBeUndefined()
    const request = new Request(`${ORIGIN}/graphql`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${other.key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ query: DEPLOY, variables: { input } }),
    })
    const relaxed = { ...env, GRAPHQL_UNIQUE_POD_NAMES: 'false' }
    const reply = (await (await createApp().fetch(request, relaxed, createExecutionContext())).json()) as { errors?: unknown }
    expect(reply.errors).toBeUndefined()
    expect((await api(other.key).get(PODS)).body.pods.map(({ name }: { name: string }) => name)).toEqual(['b', 'b'])
    scene.leave()
  })

  it('a repeat under its Idempotency-Key gets the first answer', async () => {
    const scene = await podScene(gpus(4, 'NVIDIA L4'))
    const call = graphql(scene.account.key)
    const send = () => call(DEPLOY, { input: ON_DEMAND }, { 'Idempotency-Key': 'once' })
    const [first, again] = [await send(), await send()]
    expect(first.body.errors).toBeUndefined()
    expect(again.body.data.podFindAndDeployOnDemand.id).toBe(first.body.data.podFindAndDeployOnDemand.id)
    scene.leave()
  })
})

describe('acting on pods', () => {
  it('[GQL-8] [GQL-37] stop, resume, edit and terminate one; what is not there is an error', async () => {
    const scene = await podScene(gpus(1))
    const call = graphql(scene.account.key)
    const { id } = await scene.create()
    await scene.run(id)
    const done = async (mutation: string) => {
      const { status, body } = await call(`mutation { ${mutation} }`)
      expect([status, body.errors]).toEqual([200, undefined])
      return body.data
    }
    expect(await done(`podStop(input: {podId: "${id}"}) { id desiredStatus lastStatusChange }`)).toMatchObject({
      podStop: { id, desiredStatus: 'EXITED' },
    })
    await scene.host.report(`${id}-1`, { state: 'exited', exitCode: 0 })
    const wrong = await call(`mutation { podResume(input: {podId: "${id}", gpuCount: 2}) { id } }`)
    expect(wrong.body.errors[0].message).toContain('the pod has 1 GPUs and starts with them')
    expect((await scene.get(id)).status).toBe('EXITED')
    expect(await done(`podResume(input: {podId: "${id}", gpuCount: 1}) { id desiredStatus }`)).toEqual({
      podResume: { id, desiredStatus: 'RUNNING' },
    })
    await scene.run(id, 2)
    await done(`podEditJob(input: {podId: "${id}", imageName: "img2", ports: "", env: [{key: "B", value: "2"}]}) { id imageName }`)
    expect(await scene.get(id)).toMatchObject({ image: 'img2', ports: [], env: { B: '2' } })
    expect(await done(`podTerminate(input: {podId: "${id}"})`)).toEqual({ podTerminate: null })
    for (const mutation of [
      `podTerminate(input: {podId: "${id}"})`,
      `podStop(input: {podId: "${id}"}) { id }`,
      'podResume(input: {podId: "x"}) { id }',
    ]) {
      const { status, body } = await call(`mutation { ${mutation} }`)
      expect([status, body.errors[0].message, Object.values(body.data)]).toEqual([200, 'pod not found', [null]])
    }
    scene.leave()
  })
})
