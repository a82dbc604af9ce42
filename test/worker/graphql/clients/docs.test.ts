import { api, createAccount, describe, expect, it } from '../../../support/harness.ts'
import { gpus } from '../../../support/hosts/gpus.ts'
import { replayOf } from '../../../support/http/graphql-clients.ts'
import { podScene } from '../../../support/pods/pod-scene.ts'

const docs = replayOf('docs')

describe('the examples of the public documentation', () => {
  it('[GQL-61] a pod on demand: create, read with its load, stop, resume', async () => {
    const scene = await podScene(gpus(2))
    const { key } = scene.account
    const { podFindAndDeployOnDemand: made } = await docs.play(key, 'create-pod')
    expect(made).toMatchObject({ imageName: 'runpod/tensorflow', env: ['JUPYTER_PASSWORD=rn51hunbpgtltcpac3ol'] })
    expect((await api(key).get(`/v2/pods/${made.id}`)).body).toMatchObject({
      name: 'RunPod Tensorflow',
      cloud: 'SECURE',
      disk: 40,
      mounts: { persistent: { size: 40, path: '/workspace' } },
    })
    await scene.run(made.id, 1)
    const { pod } = await docs.play(key, 'pod-with-runtime', { inline: { p1: made.id } })
    expect(pod).toMatchObject({ id: made.id, runtime: { uptimeInSeconds: expect.any(Number), ports: [], gpus: expect.any(Array) } })
    expect((await docs.play(key, 'my-pods-with-runtime')).myself.pods).toMatchObject([{ id: made.id, name: 'RunPod Tensorflow' }])
    expect(await docs.play(key, 'stop-pod', { inline: { p1: made.id } })).toEqual({ podStop: { id: made.id, desiredStatus: 'EXITED' } })
    await scene.host.report(`${made.id}-1`, { state: 'exited', exitCode: 0 })
    expect((await docs.play(key, 'resume-pod', { inline: { p1: made.id } })).podResume).toEqual({ ...made, desiredStatus: 'RUNNING' })
    scene.leave()
  })

  it('[GQL-61] a spot pod: create, and resume with a bid', async () => {
    const scene = await podScene(gpus(2))
    const { key } = scene.account
    const { podRentInterruptable: made } = await docs.play(key, 'create-spot-pod')
    await scene.run(made.id, 1)
    await scene.act(made.id, 'stop')
    await scene.host.report(`${made.id}-1`, { state: 'exited', exitCode: 0 })
    expect((await docs.play(key, 'bid-resume-pod', { inline: { p1: made.id } })).podBidResume).toEqual({
      ...made,
      desiredStatus: 'RUNNING',
    })
    scene.leave()
  })

  it('[GQL-61] a template: create, modify and delete by name', async () => {
    const { key } = await createAccount()
    const { saveTemplate: made } = await docs.play(key, 'save-template')
    expect(made).toMatchObject({ name: 'Generated Template', imageName: 'ubuntu:latest', dockerArgs: 'sleep infinity', volumeInGb: 15 })
    const serverless = await api(key).post('/v2/templates', { name: 'mine', image: 'old', serverless: true })
    const { saveTemplate: changed } = await docs.play(key, 'update-template', { inline: { t1: serverless.body.id } })
    expect(changed).toMatchObject({
      id: serverless.body.id,
      name: 'Updated Serverless Template',
      dockerArgs: 'python handler.py',
      isServerless: true,
    })
    expect(await docs.play(key, 'delete-template')).toEqual({ deleteTemplate: null })
    expect((await api(key).get('/v2/templates')).body.templates.map(({ id }: { id: string }) => id)).toEqual([serverless.body.id])
  })

  it('[GQL-61] [GQL-65] an endpoint: create, view, modify and delete', async () => {
    const { key } = await createAccount()
    const template = await api(key).post('/v2/templates', { name: 't', image: 'img', serverless: true })
    const templateId = template.body.id
    const { saveEndpoint: made } = await docs.play(key, 'create-endpoint', { inline: { t1: templateId } })
    expect(made).toMatchObject({ name: 'Generated Endpoint -fb', templateId, gpuIds: 'AMPERE_16', workersMax: 3 })
    expect(made.locations.split(',').every((id: string) => id.startsWith('US-'))).toBe(true)
    const { myself } = await docs.play(key, 'my-endpoints')
    expect(myself).toEqual({ endpoints: [{ ...made, networkVolumeId: null, pods: [] }], serverlessDiscount: null })
    const { saveEndpoint: changed } = await docs.play(key, 'update-endpoint', { inline: { e1: made.id, t1: templateId } })
    expect(changed).toEqual({ id: made.id, gpuIds: 'AMPERE_16', name: 'Generated Endpoint -fb', templateId, workersMax: 0 })
    expect(await docs.play(key, 'delete-endpoint', { inline: { e1: made.id } })).toEqual({ deleteEndpoint: null })
    expect((await api(key).get(`/v2/serverless/${made.id}`)).status).toBe(404)
  })

  it('[GQL-61] a secret, volumes and a GPU type', async () => {
    const { key } = await createAccount()
    const { secretCreate: made } = await docs.play(key, 'create-secret')
    expect(made).toEqual({ id: expect.any(String), name: 'hf_token', description: 'for downloads' })
    expect(await docs.play(key, 'delete-secret', { inline: { s1: made.id } })).toEqual({ secretDelete: null })
    expect((await api(key).get('/v2/account/secrets')).body.secrets).toEqual([])
    expect(await docs.play(key, 'my-volumes')).toEqual({ myself: { networkVolumes: [] } })
    expect((await docs.play(key, 'gpu-type')).gpuTypes).toMatchObject([{ id: 'NVIDIA L4', lowestPrice: { minimumBidPrice: 0.44 } }])
  })
})
