import { api, createAccount, createEndpoint, describe, expect, it } from '../../support/harness.ts'
import { gpus } from '../../support/hosts/gpus.ts'
import { decodeGo, decodeGoList, GO_ENDPOINT, GO_POD, GO_REGISTRY, GO_TEMPLATE, GO_VOLUME } from '../../support/http/go-decoder.ts'
import { v1 } from '../../support/http/v1.ts'
import { podScene } from '../../support/pods/pod-scene.ts'

// Calls of v1 command-line clients, recorded byte for byte, with replies that a strict decoder accepts.

describe('pods, as clients of v1 call them', () => {
  it('[LEG-6][LEG-7] create a CPU pod, list, read, change, stop, start, restart, reset and delete it', async () => {
    const scene = await podScene(gpus(1))
    const call = v1(scene.account.key)
    const sent = {
      name: 'c',
      imageName: 'img',
      computeType: 'CPU',
      containerDiskInGb: 20,
      volumeMountPath: '/workspace',
      cloudType: 'SECURE',
    }
    const created = await call.post('/pods', sent)
    expect(created.status).toBe(201)
    const { id } = decodeGo(created.body, GO_POD) as { id: string }
    expect(decodeGo(created.body, GO_POD)).toMatchObject({
      name: 'c',
      imageName: 'img',
      desiredStatus: 'RUNNING',
      containerDiskInGb: 20,
      gpuCount: 0,
      vcpuCount: 2,
      memoryInGb: 4,
      volumeInGb: 0,
      ports: ['8888/http', '22/tcp'],
    })
    await scene.run(id, 1, [{ private: 22, public: 10_341, type: 'tcp' }])
    expect((await call.get(`/pods/${id}`)).body).toMatchObject({ portMappings: { 22: 10_341 } })

    const listed = await call.get('/pods')
    expect([listed.status, decodeGoList(listed.body, GO_POD).map((pod) => pod.id)]).toEqual([200, [id]])
    const read = await call.get(`/pods/${id}?includeMachine=true&includeNetworkVolume=true`)
    expect(decodeGo(read.body, GO_POD)).toMatchObject({ id, machine: { secureCloud: true, cpuTypeId: 'cpu3c' } })
    expect(read.body.networkVolume).toBeNull()

    const stopped = await call.post(`/pods/${id}/stop`)
    expect([stopped.status, decodeGo(stopped.body, GO_POD).desiredStatus]).toEqual([200, 'EXITED'])
    await scene.host.report(`${id}-1`, { state: 'exited', exitCode: 0 })
    const started = await call.post(`/pods/${id}/start`)
    expect([started.status, decodeGo(started.body, GO_POD).desiredStatus]).toEqual([200, 'RUNNING'])
    await scene.run(id, 2)
    expect((await call.post(`/pods/${id}/restart`)).status).toBe(200)
    await scene.run(id, 3)
    const reset = await call.post(`/pods/${id}/reset`)
    expect([reset.status, decodeGo(reset.body, GO_POD).desiredStatus]).toEqual([200, 'RUNNING'])

    const changed = await call.patch(`/pods/${id}`, { name: 'n2', env: { B: '2' } })
    expect([changed.status, decodeGo(changed.body, GO_POD)]).toMatchObject([200, { name: 'n2', env: { B: '2' } }])
    const updated = await call.post(`/pods/${id}/update`, { name: 'n3' })
    expect([updated.status, updated.body.name]).toEqual([200, 'n3'])

    expect(await call.delete(`/pods/${id}`)).toMatchObject({ status: 204, body: null })
    const gone = await call.get(`/pods/${id}`)
    expect([gone.status, gone.body]).toEqual([404, { message: 'pod not found' }])
    scene.leave()
  })
})

describe('endpoints, as clients of v1 call them', () => {
  it('[LEG-9][LEG-7] list, read, change and delete one', async () => {
    const { key } = await createAccount()
    const id = await createEndpoint(key)
    const call = v1(key)
    const query = '?includeTemplate=true&includeWorkers=true'
    const listed = await call.get(`/endpoints${query}`)
    expect(decodeGoList(listed.body, GO_ENDPOINT)).toMatchObject([{ id, workers: [], template: { isServerless: true } }])
    expect(decodeGo((await call.get(`/endpoints/${id}${query}`)).body, GO_ENDPOINT)).toMatchObject({
      id,
      computeType: 'GPU',
      scalerValue: 4,
    })
    expect(decodeGo((await call.get(`/endpoints/${id}`)).body, GO_ENDPOINT)).toMatchObject({ id, networkVolumeIds: [] })
    const changed = await call.patch(`/endpoints/${id}`, { workersMax: 5, idleTimeout: 20 })
    expect([changed.status, decodeGo(changed.body, GO_ENDPOINT)]).toMatchObject([200, { workersMax: 5, idleTimeout: 20, workersMin: 0 }])
    expect((await api(key).get(`/v2/serverless/${id}`)).body.workers).toEqual({ min: 0, max: 5, idleTimeout: 20 })
    expect(await call.delete(`/endpoints/${id}`)).toMatchObject({ status: 204, body: null })
    expect((await call.get(`/endpoints/${id}`)).status).toBe(404)
  })
})

describe('templates, as clients of v1 call them', () => {
  it.each([
    { name: 't', imageName: 'img', isServerless: true, ports: ['8888/http'], env: { A: '1' }, containerDiskInGb: 20 },
    { name: 't2', imageName: 'img', ports: ['8888/http'], containerDiskInGb: 20, volumeInGb: 3, volumeMountPath: '/workspace' },
  ])('[LEG-8][LEG-7] create %j, list, read, change and delete it', async (sent) => {
    const { key } = await createAccount()
    const call = v1(key)
    const created = await call.post('/templates', sent)
    expect(created.status).toBe(200)
    // v2 has no mount that is smaller than 10 GB.
    const kept = 'volumeInGb' in sent ? { ...sent, volumeInGb: 10 } : sent
    expect(decodeGo(created.body, GO_TEMPLATE)).toMatchObject(kept)
    const { id } = created.body
    expect(decodeGoList((await call.get('/templates')).body, GO_TEMPLATE)).toMatchObject([{ id }])
    expect(decodeGo((await call.get(`/templates/${id}`)).body, GO_TEMPLATE)).toMatchObject(kept)
    const changed = await call.patch(`/templates/${id}`, { imageName: 'img2' })
    expect([changed.status, decodeGo(changed.body, GO_TEMPLATE)]).toMatchObject([200, { ...kept, imageName: 'img2' }])
    expect(await call.delete(`/templates/${id}`)).toMatchObject({ status: 204, body: null })
    expect((await call.get(`/templates/${id}`)).status).toBe(404)
  })
})

describe('network volumes, as clients of v1 call them', () => {
  it('[LEG-8][LEG-7] create, list, read, grow and delete one', async () => {
    const call = v1((await createAccount()).key)
    const sent = { name: 'v', size: 10, dataCenterId: 'US-KS-2' }
    const created = await call.post('/networkvolumes', sent)
    expect([created.status, decodeGo(created.body, GO_VOLUME)]).toMatchObject([200, sent])
    const { id } = created.body
    expect(decodeGoList((await call.get('/networkvolumes')).body, GO_VOLUME)).toEqual([{ id, ...sent }])
    expect(decodeGo((await call.get(`/networkvolumes/${id}`)).body, GO_VOLUME)).toEqual({ id, ...sent })
    const grown = await call.patch(`/networkvolumes/${id}`, { size: 20 })
    expect([grown.status, decodeGo(grown.body, GO_VOLUME)]).toEqual([200, { id, ...sent, size: 20 }])
    expect(await call.delete(`/networkvolumes/${id}`)).toMatchObject({ status: 204, body: null })
  })
})

describe('registry credentials, as clients of v1 call them', () => {
  it('[LEG-8][LEG-7] create, list, read and delete one', async () => {
    const call = v1((await createAccount()).key)
    const created = await call.post('/containerregistryauth', { name: 'r', username: 'u', password: 'p' })
    expect(created.status).toBe(200)
    const shown = { id: created.body.id, name: 'r' }
    expect(created.body).toEqual(shown)
    expect(decodeGoList((await call.get('/containerregistryauth')).body, GO_REGISTRY)).toEqual([shown])
    expect(decodeGo((await call.get(`/containerregistryauth/${shown.id}`)).body, GO_REGISTRY)).toEqual(shown)
    expect(await call.delete(`/containerregistryauth/${shown.id}`)).toMatchObject({ status: 204, body: null })
  })
})
