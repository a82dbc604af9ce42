import { createAccount, describe, expect, it } from '../../../support/harness.ts'
import { freeGpus, gpus } from '../../../support/hosts/gpus.ts'
import { PodScene, podScene } from '../../../support/pods/pod-scene.ts'
import { until } from '../../../support/time.ts'

const REASON =
  'image pull failed: r.example/x:1: the registry sends too slowly: of r.example came 0.00 MiB a minute, and 1.00 are the least on this host'

describe('a start whose image does not arrive', () => {
  it('[S11] [SHR-38] ends as ERROR with the reason and holds no GPU: another account gets it, and nothing starts it again by itself', async () => {
    const scene = await podScene(gpus(2))
    const { id } = await scene.create({ gpu: { id: 'NVIDIA L4', count: 2 } })
    await scene.host.waitFor((workload) => workload.id === `${id}-1`)
    await scene.host.report(`${id}-1`, { state: 'pulling' })
    const other = new PodScene(scene.host, await createAccount())
    const body = { name: 'p', image: 'acme/idle:1', gpu: { id: 'NVIDIA L4', count: 2 } }
    expect([await freeGpus(scene.host.id), (await other.call.post('/v2/pods', body)).status]).toEqual([0, 400])

    await scene.host.report(`${id}-1`, { state: 'error', reason: REASON })
    await until(async () => (await freeGpus(scene.host.id)) === 2)
    expect(await scene.get(id)).toMatchObject({ status: 'ERROR', statusReason: REASON })
    const theirs = await other.create({ gpu: { id: 'NVIDIA L4', count: 2 } })
    await other.run(theirs.id)
    expect(await other.get(theirs.id)).toMatchObject({ status: 'RUNNING' })
    expect(await scene.get(id)).toMatchObject({ status: 'ERROR', statusReason: REASON })
    scene.leave()
  })
})
