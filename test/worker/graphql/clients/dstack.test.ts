import { api, describe, expect, it } from '../../../support/harness.ts'
import { gpus } from '../../../support/hosts/gpus.ts'
import { replayOf } from '../../../support/http/graphql-clients.ts'
import { podScene } from '../../../support/pods/pod-scene.ts'

const dstack = replayOf('dstack')

describe('dstack', () => {
  it('[GQL-61] creates a pod on demand and a spot pod, and gives one another image', async () => {
    const scene = await podScene(gpus(2))
    const { key } = scene.account
    const { podFindAndDeployOnDemand: made } = await dstack.play(key, 'create-pod')
    expect(made).toEqual({
      id: expect.any(String),
      lastStatusChange: expect.any(String),
      imageName: 'acme/dstack:1',
      machine: { podHostId: expect.stringMatching(new RegExp(`^${made.id}-[0-9a-f]{8}$`)) },
    })
    expect((await api(key).get(`/v2/pods/${made.id}`)).body).toMatchObject({
      name: 'dstack-0',
      ports: ['10022/tcp'],
      env: { A: '1' },
      disk: 20,
    })
    const { podRentInterruptable: spot } = await dstack.play(key, 'create-spot-pod')
    expect(spot.machine.podHostId).toMatch(new RegExp(`^${spot.id}-`))
    const registry = await api(key).post('/v2/registries', { name: 'r', username: 'u', password: 'p' })
    const { podEditJob: edited } = await dstack.play(key, 'edit-pod', { inline: { p1: made.id, r1: registry.body.id } })
    expect(edited).toEqual({ id: made.id })
    expect((await api(key).get(`/v2/pods/${made.id}`)).body).toMatchObject({ image: 'acme/dstack:2', registry: registry.body.id })
    scene.leave()
  })
})
