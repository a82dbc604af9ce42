import { openRecords } from '../../../../src/db/client.ts'
import { findPodForHost } from '../../../../src/db/pods/find-pods.ts'
import { insertPod, type PodRow, updatePod } from '../../../../src/db/pods/pods.ts'
import { decideAction } from '../../../../src/domain/pod/pod.ts'
import { createAccount, describe, env, evictDurableObject, expect, it, runInDurableObject, teamOf, vi } from '../../../support/harness.ts'
import { FakeHost } from '../../../support/hosts/fake-host.ts'
import { freeGpus, gpus } from '../../../support/hosts/gpus.ts'
import { envOf } from '../../../support/hosts/hosts.ts'
import { act, compute, draftPod, hostedPod, placed, readPod, ringForIntents } from '../../../support/pods/pods.ts'
import { hostStub } from '../../../support/runner/stubs.ts'

const TYPE = 'NVIDIA L40S'

async function joined(count = 1) {
  const host = await FakeHost.join(gpus(count, TYPE))
  const teamId = await teamOf(await createAccount())
  return { host, teamId, stub: hostStub(env, host.id) }
}

function rowOn(host: FakeHost, teamId: string, id: string): PodRow {
  const granted = { hostId: host.id, dataCenterId: 'LOCAL-1', cudaVersion: '12.8', publicIp: null, vcpus: 2, memoryMb: 1024 }
  return { ...draftPod(teamId, id, { compute: compute(TYPE) }), ...granted }
}
/** A pod whose first container is stopping while the second one is desired to run. */
async function restarting() {
  const { host, id } = await hostedPod({ compute: compute(TYPE) })
  await host.report(`${id}-1`, { state: 'running' })
  await act(id, 'restart')
  await host.waitFor((w) => w.id === `${id}-2`)
  return { host, id }
}

const RESOURCES = { gpu: { typeId: TYPE, count: 1 }, vcpus: 2, memoryMb: 1024, diskGb: 10 }

describe('a request that ends midway', () => {
  it('[POD-30] after a create was recorded: the host object finds the pod and starts it', async () => {
    const { host, teamId, stub } = await joined()
    const id = `podx${Date.now()}`
    expect(await stub.recordPodIntent(host.id, id)).toEqual({ takesMore: true, silentSinceMs: null })
    expect(await insertPod(openRecords(env), rowOn(host, teamId, id), RESOURCES)).toBe('done')
    await evictDurableObject(stub)
    await ringForIntents(host.id)
    expect(await host.waitFor((w) => w.id === `${id}-1`)).toMatchObject({ desired: 'running' })
    host.leave()
  })

  it('[POD-30] before anything was recorded: the intent record has no effect and is dropped', async () => {
    const { host, stub } = await joined()
    await stub.recordPodIntent(host.id, 'podnever')
    await ringForIntents(host.id)
    expect(await freeGpus(host.id)).toBe(1)
    const intents = () => runInDurableObject(stub, (_object, state) => state.storage.sql.exec('SELECT * FROM pod_marks').toArray().length)
    expect(await intents()).toBe(1)
    await runInDurableObject(stub, (_object, state) => void state.storage.sql.exec('UPDATE pod_marks SET marked_at = 0'))
    await ringForIntents(host.id)
    expect(await intents()).toBe(0)
    host.leave()
  })

  it('[POD-30] after a stop was recorded: the container is stopped all the same, and its compute comes back', async () => {
    const { host, stub } = await joined()
    const id = await placed(host, { compute: compute(TYPE) })
    await host.waitFor((w) => w.id === `${id}-1`)
    await host.report(`${id}-1`, { state: 'running' })
    const before = await readPod(id)
    const stop = decideAction(before, 'stop', Date.now())
    if (!stop.ok) throw new Error(stop.detail)
    await stub.recordPodIntent(host.id, id)
    expect(await updatePod(openRecords(env), before, stop.change.pod, stop.change.usage)).toBe(true)
    await ringForIntents(host.id)
    await host.waitFor((w) => w.id === `${id}-1` && w.desired === 'held')
    await host.report(`${id}-1`, { state: 'exited' })
    expect(await freeGpus(host.id)).toBe(1)
    host.leave()
  })
})

describe('capacity of pods', () => {
  it('[POD-32] a pod that ended before its host received it frees everything', async () => {
    const { host, teamId, stub } = await joined()
    const id = `pody${Date.now()}`
    const row = rowOn(host, teamId, id)
    await insertPod(openRecords(env), row, RESOURCES)
    const end = decideAction(row, 'terminate', Date.now())
    if (!end.ok) throw new Error(end.detail)
    await updatePod(openRecords(env), row, end.change.pod, end.change.usage)
    expect(await freeGpus(host.id)).toBe(0)
    await stub.syncPod(host.id, id)
    expect(await freeGpus(host.id)).toBe(1)
    host.leave()
  })

  it('[POD-32] the place of a terminated pod is free when the last of its containers is gone, not before', async () => {
    const { host, id } = await restarting()
    await act(id, 'terminate')
    await host.waitFor((w) => w.id === `${id}-2` && w.desired === 'stopped')
    await host.report(`${id}-2`, { state: 'gone' })
    expect(await freeGpus(host.id)).toBe(0)
    await host.report(`${id}-1`, { state: 'gone' })
    expect(await freeGpus(host.id)).toBe(1)
    expect((await findPodForHost(openRecords(env), id))?.status).toBe('TERMINATED')
    host.leave()
  })

  it('[POD-32] a pod that was stopped while its previous container is stopping frees its compute when that one has ended', async () => {
    const { host, id } = await restarting()
    await act(id, 'stop')
    await host.waitFor((w) => w.id === `${id}-2` && w.desired === 'held')
    await host.report(`${id}-2`, { state: 'exited' })
    expect(await freeGpus(host.id)).toBe(0)
    await host.report(`${id}-1`, { state: 'gone' })
    expect(await freeGpus(host.id)).toBe(1)
    host.leave()
  })

  it('[POD-23] a container that ends by itself frees compute; a repeated report charges once', async () => {
    const { host } = await joined()
    const id = await placed(host, { compute: compute(TYPE) })
    await host.waitFor((w) => w.id === `${id}-1`)
    await host.report(`${id}-1`, { state: 'running' })
    const exit = { state: 'exited', exitCode: 1, reason: 'exited with code 1: boom', at: Date.now(), sequence: 50 } as const
    await host.report(`${id}-1`, exit)
    await host.report(`${id}-1`, exit)
    await host.report(`${id}-1`, { ...exit, sequence: 51 })
    expect(await readPod(id)).toMatchObject({ status: 'EXITED', statusReason: 'exited with code 1: boom' })
    expect(await freeGpus(host.id)).toBe(1)
    const usage = await env.DB.prepare('SELECT COUNT(*) AS n FROM usage WHERE workload_id = ?').bind(id).first<{ n: number }>()
    expect(usage?.n).toBe(1)
    expect((await host.waitFor((w) => w.id === `${id}-1` && w.desired === 'held')).desired).toBe('held')
    host.leave()
  })
})

describe('simultaneous reports', () => {
  it('[P8] [HOST-3] of which the first fails: the second waits for it, and the time between is charged', async () => {
    const { host, stub } = await joined()
    const id = await placed(host, { compute: compute(TYPE) })
    await host.waitFor((w) => w.id === `${id}-1`)
    await env.DB.prepare('UPDATE pods SET changed_at = changed_at - 1000 WHERE id = ?').bind(id).run()
    const atMs = (await readPod(id)).changedAtMs
    const said = { workloadId: `${id}-1`, exitCode: null, reason: null }
    const reports = [
      { ...said, state: 'running' as const, at: atMs + 1, sequence: 1 },
      { ...said, state: 'exited' as const, at: atMs + 5, sequence: 2 },
    ]
    const outcome = await runInDurableObject(stub, async (object) => {
      vi.spyOn(envOf(object).DB, 'batch').mockRejectedValueOnce(new Error('D1 is away'))
      return object.report(host.id, reports).catch((error: Error) => error.message)
    })
    vi.restoreAllMocks()
    expect(outcome).toBe('D1 is away')
    await stub.report(host.id, reports)
    expect(await readPod(id)).toMatchObject({ status: 'EXITED' })
    const usage = await env.DB.prepare('SELECT ended_at - started_at AS ms FROM usage WHERE workload_id = ?').bind(id).all()
    expect(usage.results).toEqual([{ ms: 4 }])
    host.leave()
  })
})
