import type { PodAction } from '../../../../src/contract/enums.ts'
import { openRecords } from '../../../../src/db/client.ts'
import { type PodRow, releaseCompute, updatePod, updatePodTakingCompute } from '../../../../src/db/pods/pods.ts'
import { decideAction } from '../../../../src/domain/pod/pod.ts'
import { placePod } from '../../../../src/effects/pods/place-pod.ts'
import { afterEach, beforeEach, createAccount, describe, env, expect, it, teamOf } from '../../../support/harness.ts'
import { FakeHost } from '../../../support/hosts/fake-host.ts'
import { freeGpus, gpus } from '../../../support/hosts/gpus.ts'
import { draftPod, placed, readPod } from '../../../support/pods/pods.ts'

const db = openRecords(env)
const ONE_GPU = { gpu: { typeId: 'NVIDIA L4', count: 1 }, vcpus: 1, memoryMb: 1_024, diskGb: 10 }

let host: FakeHost
beforeEach(async () => {
  host = await FakeHost.join(gpus())
})
afterEach(() => host.leave())

function decided(pod: PodRow, action: PodAction) {
  const outcome = decideAction(pod, action, Date.now())
  if (!outcome.ok) throw new Error(outcome.detail)
  return outcome.change
}

/** A pod whose container has stopped and which holds no GPU. */
async function stoppedPod(): Promise<string> {
  const id = await placed(host)
  await host.waitFor((w) => w.id === `${id}-1`)
  const pod = await readPod(id)
  expect(await updatePod(db, pod, decided(pod, 'stop').pod, null)).toBe(true)
  await host.report(`${id}-1`, { state: 'exited' })
  expect(await freeGpus(host.id)).toBe(1)
  return id
}

describe('rows under races', () => {
  it('[P8] of transitions that were decided on the same version one is written', async () => {
    const pod = await readPod(await placed(host))
    const changes = [decided(pod, 'stop'), decided(pod, 'terminate'), decided(pod, 'stop')]
    const written = await Promise.all(changes.map(({ pod: after }) => updatePod(db, pod, after, null)))
    expect(written.filter(Boolean)).toHaveLength(1)
    expect((await readPod(pod.id)).version).toBe(pod.version + 1)
  })

  it('[POD-17] of two pods that start for the last GPU one gets it, and the other is unchanged', async () => {
    const ids = [await stoppedPod(), await stoppedPod()]
    const pods = await Promise.all(ids.map(readPod))
    const outcomes = await Promise.all(pods.map((pod) => updatePodTakingCompute(db, pod, decided(pod, 'start').pod, ONE_GPU)))
    expect(outcomes.toSorted()).toEqual(['capacity', 'done'])
    const loser = pods[outcomes.indexOf('capacity')]
    expect(await readPod(loser?.id ?? '')).toEqual(loser)
    expect(await freeGpus(host.id)).toBe(0)
  })

  it('[POD-17] of two starts of one pod one is written, and its GPU is taken once', async () => {
    const pod = await readPod(await stoppedPod())
    const start = decided(pod, 'start')
    const outcomes = await Promise.all([1, 2].map(() => updatePodTakingCompute(db, pod, start.pod, ONE_GPU)))
    expect(outcomes.toSorted()).toEqual(['done', 'lost'])
    expect(await freeGpus(host.id)).toBe(0)
  })

  it('[POD-14] compute is not freed from a pod that has started again meanwhile', async () => {
    const id = await stoppedPod()
    const pod = await readPod(id)
    expect(await updatePodTakingCompute(db, pod, decided(pod, 'start').pod, ONE_GPU)).toBe('done')
    await releaseCompute(db, id, host.id, 1)
    await releaseCompute(db, id, host.id, 2)
    expect(await freeGpus(host.id)).toBe(0)
    await releaseCompute(db, id, 'another-host', 2)
    expect(await freeGpus(host.id)).toBe(0)
  })

  it('[POD-9, POD-10] of thirty simultaneous creates as many succeed as there are GPUs; the others leave nothing behind', async () => {
    host.leave()
    host = await FakeHost.join(gpus(7))
    const team = await teamOf(await createAccount())
    const drafts = Array.from({ length: 30 }, (_, n) => draftPod(team, `race${Date.now()}n${n}`))
    const results = await Promise.all(drafts.map((draft) => placePod(env, draft, () => [])))
    expect(results.filter(({ ok }) => ok)).toHaveLength(7)
    expect(await freeGpus(host.id)).toBe(0)
    const rows = await env.DB.prepare('SELECT COUNT(*) AS n FROM pods WHERE team_id = ?').bind(team).first('n')
    const held = await env.DB.prepare('SELECT COUNT(*) AS n FROM allocations WHERE team_id = ?').bind(team).first('n')
    expect([rows, held]).toEqual([7, 7])
    for (const result of results) if (!result.ok) expect(result.refusals.find(({ hostId }) => hostId === host.id)?.failed).toHaveLength(1)
  })

  it('[POD-17] a pod whose place on its host is gone does not start without one', async () => {
    const pod = await readPod(await stoppedPod())
    await env.DB.prepare('DELETE FROM allocations WHERE id = ?').bind(pod.id).run()
    expect(await updatePodTakingCompute(db, pod, decided(pod, 'start').pod, ONE_GPU)).toBe('host')
    expect(await readPod(pod.id)).toEqual(pod)
  })

  it('[RES-4] a change that names a credential which was deleted meanwhile is not written', async () => {
    const pod = await readPod(await placed(host))
    const registryId = 'gone'
    const after = { ...pod, registryId, version: pod.version + 1 }
    expect(await updatePod(db, pod, after, null)).toBe(false)
    await env.DB.prepare(
      `INSERT INTO registries (id, team_id, name, username_sealed, password_sealed, created_at) VALUES (?, ?, 'n', 'u', 'p', 1)`,
    )
      .bind(registryId, pod.teamId)
      .run()
    expect(await updatePod(db, pod, after, null)).toBe(true)
  })

  it('[POD-17] a pod does not start on a host that its operator has removed', async () => {
    const pod = await readPod(await stoppedPod())
    await env.DB.prepare("UPDATE hosts SET status = 'REMOVED' WHERE id = ?").bind(host.id).run()
    expect(await updatePodTakingCompute(db, pod, decided(pod, 'start').pod, ONE_GPU)).toBe('host')
    expect(await readPod(pod.id)).toEqual(pod)
  })
})
