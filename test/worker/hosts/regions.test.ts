import { admin, afterEach, api, createAccount, createEndpoint, env, expect, it, vi } from '../../support/harness.ts'
import { CLUSTERS, clusterBody, networked } from '../../support/hosts/cluster-scene.ts'
import { FakeHost } from '../../support/hosts/fake-host.ts'
import { GPU } from '../../support/hosts/gpus.ts'
import { podBody } from '../../support/pods/pod-scene.ts'

const hosts: FakeHost[] = []
afterEach(() => {
  vi.restoreAllMocks()
  for (const host of hosts.splice(0)) host.leave()
})

/** The regions that calls to a kind of objects state, by call. The runtime of the tests takes them and has one place only. */
function watchRegions(objects: DurableObjectNamespace): (string | undefined)[] {
  const regions: (string | undefined)[] = []
  const namespace = Object.getPrototypeOf(objects) as typeof objects
  const get = namespace.get
  vi.spyOn(namespace, 'get').mockImplementation(function (this: DurableObjectNamespace, id, options) {
    if (this === objects) regions.push(options?.locationHint)
    return get.call(this, id, options)
  } as typeof get)
  return regions
}

it('[HOST-191] the queue of an endpoint is created in the one region of its data centers', async () => {
  const { key } = await createAccount()
  const regions = watchRegions(env.ENDPOINT as DurableObjectNamespace)
  await createEndpoint(key, { dataCenterIds: ['EU-RO-1', 'EU-CZ-1'] })
  await createEndpoint(key, { dataCenterIds: ['EU-RO-1', 'US-KS-2'] })
  await createEndpoint(key)
  expect(regions).toEqual(['eeur', undefined, undefined])
})

it('[HOST-191] the object of a cluster, and that of a host before its first link, are created in the region of their data center', async () => {
  const join = (address: string) => FakeHost.join(networked(address), { dataCenterId: 'AP-JP-1' })
  hosts.push(await join('192.0.2.1'), await join('192.0.2.2'))
  const { key } = await createAccount()
  const clusters = watchRegions(env.CLUSTER as DurableObjectNamespace)
  const made = await api(key).post(
    CLUSTERS,
    clusterBody({ dataCenterIds: ['AP-JP-1'], compute: { gpuTypeId: GPU, gpuCountPerPod: 1, podCount: 2 } }),
  )
  expect(made.status).toBe(201)
  expect(clusters[0]).toBe('apac')
  vi.restoreAllMocks()
  const asked = watchRegions(env.HOST as DurableObjectNamespace)
  expect((await admin().get('/admin/v1/hosts')).status).toBe(200)
  expect([...new Set(asked)]).toEqual(['apac'])
})

it('[HOST-191] the log of a pod is created in the region of its data center', async () => {
  hosts.push(await FakeHost.join(networked('192.0.2.3'), { dataCenterId: 'OC-AU-1' }))
  const { key } = await createAccount()
  const logs = watchRegions(env.POD_LOG as DurableObjectNamespace)
  const pod = await api(key).post('/v2/pods', podBody({ dataCenterIds: ['OC-AU-1'] }))
  expect(pod.status).toBe(201)
  expect((await api(key).post(`/v2/pods/${pod.body.id}/action`, { action: 'stop' })).status).toBe(200)
  expect(logs[0]).toBe('oc')
})
