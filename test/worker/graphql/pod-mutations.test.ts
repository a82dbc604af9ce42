import { createApp } from '../../../src/app.ts'
import { watchDatabase } from '../../support/cost/watch-database.ts'
import { api, createAccount, createExecutionContext, describe, env, expect, it, ORIGIN, vi } from '../../support/harness.ts'
import { FakeHost } from '../../support/hosts/fake-host.ts'
import { gpus } from '../../support/hosts/gpus.ts'
import { graphql } from '../../support/http/graphql.ts'
import { PODS, podScene } from '../../support/pods/pod-scene.ts'

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
  it('[GQL-23] [GQL-17] a GPU pod: REST shows the meaning of its flat names', async () => {
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

  it('[GQL-47] [POD-60] with times at which it stops and ends, however it is created; a past one is refused', async () => {
    const scene = await podScene(gpus(4))
    const call = graphql(scene.account.key)
    const hours = (count: number) => `${new Date(Date.now() + count * 3_600_000).toISOString().slice(0, 19)}Z`
    const times = { stopAfter: hours(1), terminateAfter: hours(2) }
    const creates = [
      ['podFindAndDeployOnDemand', 'PodFindAndDeployOnDemandInput', {}],
      ['podRentInterruptable', 'PodRentInterruptableInput', { bidPerGpu: 0.1 }],
      ['deployCpuPod', 'DeployCpuPodInput', { gpuTypeId: null, instanceId: 'cpu3c-2-4', volumeInGb: 0 }],
    ] as const
    const create = async ([mutation, type, more]: (typeof creates)[number], changes: object) => {
      const input = { ...ON_DEMAND, gpuCount: 1, name: mutation, ...more, ...changes }
      return (await call(`mutation($input: ${type}!) { ${mutation}(input: $input) { id } }`, { input })).body
    }
    for (const one of creates) {
      const { errors, data } = await create(one, times)
      expect(errors).toBeUndefined()
      expect(await scene.get(data[one[0]].id)).toMatchObject(times)
      const { errors: refused } = await create(one, { ...times, name: 'late', stopAfter: hours(-1) })
      expect(refused[0].message).toContain('stopAfter')
    }
    expect((await scene.call.get(PODS)).body.pods).toHaveLength(creates.length)
    scene.leave()
  })

  it('[GQL-47] a list of types is tried in its order, and a mount of an object store is one of a global volume', async () => {
    const scene = await podScene(gpus(1))
    const call = graphql(scene.account.key)
    const { id: objectStoreId } = (await scene.call.post('/v2/global-volumes', { name: 'shared' })).body
    const wanted = { gpuTypeId: 'NVIDIA H200', gpuTypeIdList: ['NVIDIA A30', 'NVIDIA L4'], gpuCount: 1, volumeInGb: 0 }
    const input = { ...ON_DEMAND, ...wanted, objectMounts: [{ objectStoreId, mountPath: '/shared' }] }
    const { body } = await call(DEPLOY, { input })
    expect(body.errors).toBeUndefined()
    expect(await scene.get(body.data.podFindAndDeployOnDemand.id)).toMatchObject({
      gpu: { id: 'NVIDIA L4', count: 1 },
      mounts: { global: [{ volumeId: objectStoreId, path: '/shared' }] },
    })
    scene.leave()
  })

  it('[GQL-47] members of the schema without effect change nothing of a pod', async () => {
    const scene = await podScene(gpus(4))
    const call = graphql(scene.account.key)
    const nothing = {
      ...{ supportPublicIp: true, bidPerGpu: 0.01, deployCost: 0.01, minDownload: 9_999, minUpload: 9_999, minDisk: 9_999 },
      volumeKey: 'key',
    }
    const shown = async (name: string, more: object) => {
      const { body } = await call(DEPLOY, { input: { ...ON_DEMAND, name, ...more } })
      expect(body.errors).toBeUndefined()
      const { id: _id, name: _name, createdAt: _at, ssh: _ssh, ...same } = await scene.get(body.data.podFindAndDeployOnDemand.id)
      return same
    }
    expect(await shown('with', nothing)).toEqual(await shown('without', {}))
    scene.leave()
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

  it('[GQL-5] refusals of v2 use the names of GraphQL', async () => {
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

describe('[GQL-73] no capacity', () => {
  const TEXT = 'There are no longer any instances available with the requested specifications. Please refresh and try again.'

  it('is the text that clients compare, byte for byte; the reasons are in extensions', async () => {
    const scene = await podScene(gpus(1))
    const call = graphql(scene.account.key)
    const input = { ...ON_DEMAND, gpuTypeId: 'NVIDIA H100 NVL', volumeInGb: 0, cloudType: 'ALL' }
    const all = await call(DEPLOY, { input })
    expect([all.status, all.body]).toEqual([
      200,
      {
        errors: [
          {
            message: TEXT,
            locations: [{ line: 1, column: expect.any(Number) }],
            path: ['podFindAndDeployOnDemand'],
            extensions: {
              code: 'RUNPOD',
              reasons: [expect.stringMatching(/NVIDIA H100 NVL/), ...all.body.errors[0].extensions.reasons.slice(1)],
            },
          },
        ],
        data: { podFindAndDeployOnDemand: null },
      },
    ])
    const several = await call(DEPLOY, { input: { ...input, gpuTypeId: null, gpuTypeIdList: ['NVIDIA H100 NVL', 'NVIDIA B200'] } })
    expect(several.body.errors[0].message).toBe(TEXT)
    scene.leave()
  })
})

describe('[GQL-19] names of pods', () => {
  it('are unique among live pods that GraphQL creates, also for simultaneous creates; REST has no such rule', async () => {
    const scene = await podScene(gpus(8, 'NVIDIA L4'))
    const call = graphql(scene.account.key)
    const input = { ...ON_DEMAND, gpuCount: 1, volumeInGb: 0 }
    const replies = await Promise.all([1, 2, 3].map(() => call(DEPLOY, { input })))
    const made = replies.flatMap(({ body }) => (body.errors ? [] : [body.data.podFindAndDeployOnDemand.id]))
    expect(made).toHaveLength(1)
    const refusals = replies.flatMap(({ body }) => body.errors ?? [])
    expect(refusals.map(({ message }) => message)).toEqual(Array(2).fill('the account already has a pod b; choose another name'))
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

  it('may be the same in another account, and the operator may relax the rule', async () => {
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

  it('are not checked for a repeat under its Idempotency-Key, which gets the first reply', async () => {
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
  it('[GQL-37] resume changes the number of GPUs, as far as its host has them', async () => {
    const scene = await podScene(gpus(4))
    const call = graphql(scene.account.key)
    const { id, gpu, cost } = await scene.create({ mounts: { persistent: { size: 10, path: '/data' } } })
    const resume = async (gpuCount: number, key = scene.account.key) => {
      const document = 'mutation($id: String!, $gpuCount: Int) { podResume(input: {podId: $id, gpuCount: $gpuCount}) { gpuCount } }'
      const { body } = await graphql(key)(document, { id, gpuCount })
      return body.errors?.[0].message ?? body.data.podResume
    }
    const stop = async (generation: number) => {
      await call(`mutation { podStop(input: {podId: "${id}"}) { id } }`)
      await scene.host.report(`${id}-${generation}`, { state: 'exited', exitCode: 0 })
    }
    await scene.run(id)
    const { platformEnv } = await scene.host.waitFor((workload) => workload.id === `${id}-1`)
    await stop(1)
    const stopped = await scene.get(id)
    expect(await resume(3, platformEnv.RUNPOD_API_KEY)).toMatch(/^access denied/)
    expect(await resume(-1)).toContain('$.gpuCount')
    expect(await resume(64)).toContain('gpu.count 64 is above')
    expect(await resume(5)).toMatch(
      /^There are not enough free GPUs on the host machine to start this pod\. It has 1 and was to start with 5;/,
    )
    expect(await scene.get(id)).toEqual(stopped)

    expect(await resume(3)).toEqual({ gpuCount: 3 })
    await scene.run(id, 2)
    const { resources, keepDisk, mounts } = await scene.host.waitFor((workload) => workload.id === `${id}-2`)
    expect({ gpu: resources.gpu, keepDisk, mounts: mounts?.length }).toEqual({
      gpu: { typeId: gpu.id, count: 3 },
      keepDisk: true,
      mounts: 1,
    })
    const running = await scene.get(id)
    expect([running.gpu.count, running.cost]).toEqual([3, Number((cost * 3).toFixed(2))])
    expect(running.gpu.vcpuCount).toBe(gpu.vcpuCount * 3)
    await stop(2)

    const other = await scene.create({ name: 'other', gpu: { id: gpu.id, count: 2 } })
    expect(await resume(3)).toMatch(/^There are not enough free GPUs/)
    expect((await scene.get(id)).status).toBe('EXITED')
    expect(await resume(2)).toEqual({ gpuCount: 2 })
    expect((await scene.get(other.id)).gpu.count).toBe(2)
    scene.leave()
  })

  it('[GQL-46] resume with another number reads its own host by its key, whatever other hosts exist', async () => {
    const scene = await podScene(gpus(2))
    const { id } = await scene.create()
    await scene.run(id)
    await scene.act(id, 'stop')
    await scene.host.report(`${id}-1`, { state: 'exited', exitCode: 0 })
    const calls = watchDatabase()
    const { body } = await graphql(scene.account.key)(`mutation { podResume(input: {podId: "${id}", gpuCount: 2}) { gpuCount } }`)
    const statements = calls.flat().filter((text) => /^\s*select\b/i.test(text))
    vi.restoreAllMocks()
    expect(body).toEqual({ data: { podResume: { gpuCount: 2 } } })
    const ofMachines = statements.filter((text) => /from "host/.test(text))
    expect(ofMachines.length).toBeGreaterThan(2)
    const plans = await Promise.all(
      ofMachines.map(async (text) => {
        const nothing = Array.from(text.matchAll(/\?/g), () => null)
        const { results } = await env.DB.prepare(`EXPLAIN QUERY PLAN ${text}`)
          .bind(...nothing)
          .all<{ detail: string }>()
        return results.map(({ detail }) => detail).filter((detail) => / host(s|_gpus)\b/.test(detail))
      }),
    )
    expect(plans.flat().filter((detail) => !/^SEARCH .*\((host_)?id=\?/.test(detail))).toEqual([])
    scene.leave()
  })

  it('[GQL-8] stop, resume, edit and terminate work; an unknown pod is an error', async () => {
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
