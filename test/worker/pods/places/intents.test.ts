import { openRecords } from '../../../../src/db/client.ts'
import { updatePod } from '../../../../src/db/pods/pods.ts'
import { decideAction } from '../../../../src/domain/pod/pod.ts'
import { placePod } from '../../../../src/effects/pods/place-pod.ts'
import { transitPod } from '../../../../src/effects/pods/pod-transitions.ts'
import type { Env } from '../../../../src/env.ts'
import { createAccount, describe, env, evictDurableObject, expect, it, runInDurableObject, teamOf } from '../../../support/harness.ts'
import { FakeHost } from '../../../support/hosts/fake-host.ts'
import { gpus } from '../../../support/hosts/gpus.ts'
import { BY_TEST, compute, draftPod, hostedPod, placed, readPod, ringForIntents } from '../../../support/pods/pods.ts'
import { hostStub } from '../../../support/runner/stubs.ts'

const marksOf = (hostId: string) =>
  runInDurableObject(hostStub(env, hostId), (_, state) => state.storage.sql.exec('SELECT pod_id FROM pod_marks').toArray())

/** Writes a stop as a request does that ends before it notifies the host. */
async function stopSilently(id: string): Promise<void> {
  const pod = await readPod(id)
  const outcome = decideAction(pod, 'stop', Date.now())
  if (!outcome.ok) throw new Error(outcome.detail)
  expect(await updatePod(openRecords(env), pod, outcome.change.pod, outcome.change.usage)).toBe(true)
}

describe('a request that ends between the row and its host', () => {
  it('[POD-75] is completed by the host object, as long as the writer may still be writing', async () => {
    const { host, id } = await hostedPod()
    await hostStub(env, host.id).recordPodIntent(host.id, id)
    // The writer is slow: the first check finds no change yet.
    await ringForIntents(host.id)
    await stopSilently(id)
    expect(host.desired().find((w) => w.id === `${id}-1`)?.desired).toBe('running')
    await evictDurableObject(hostStub(env, host.id))
    await ringForIntents(host.id)
    await host.waitFor((w) => w.id === `${id}-1` && w.desired === 'held')
    host.leave()
  })

  it('[POD-75] leaves an intent record that is dropped once its writer has certainly ended, and no timer remains', async () => {
    const host = await FakeHost.join(gpus())
    await hostStub(env, host.id).recordPodIntent(host.id, 'nosuchpod')
    await ringForIntents(host.id)
    expect(await marksOf(host.id)).toHaveLength(1)
    await runInDurableObject(hostStub(env, host.id), (_, state) =>
      state.storage.sql.exec('UPDATE pod_marks SET marked_at = marked_at - 120001'),
    )
    await ringForIntents(host.id)
    expect(await marksOf(host.id)).toEqual([])
    const timers = await runInDurableObject(hostStub(env, host.id), (_, state) =>
      state.storage.sql.exec("SELECT 1 FROM timers WHERE name = 'pods'").toArray(),
    )
    expect(timers).toEqual([])
    host.leave()
  })

  it('[POD-75] succeeds with a committed transition although its host object cannot be reached', async () => {
    const { host, id } = await hostedPod()
    const pod = await readPod(id)
    const outcome = decideAction(pod, 'stop', Date.now())
    if (!outcome.ok) throw new Error(outcome.detail)
    expect(await transitPod(withoutSync(env), pod, outcome.change, BY_TEST)).toBe('done')
    expect((await readPod(id)).status).toBe('EXITED')
    await ringForIntents(host.id)
    await host.waitFor((w) => w.id === `${id}-1` && w.desired === 'held')
    host.leave()
  })
})

describe('a fault of one pod or host', () => {
  it('[POD-75] keeps the intent record of that pod and delays no other', async () => {
    const host = await FakeHost.join(gpus(2))
    const [bad, good] = [await placed(host), await placed(host)].toSorted()
    if (!bad || !good) throw new Error('two pods')
    await host.waitFor((w) => w.id === `${good}-1`)
    const { spec } = await readPod(bad)
    await env.DB.prepare("UPDATE pods SET spec = '{' WHERE id = ?").bind(bad).run()
    for (const id of [bad, good]) await hostStub(env, host.id).recordPodIntent(host.id, id)
    await stopSilently(good)
    await runInDurableObject(hostStub(env, host.id), (_, state) => state.storage.sql.exec('UPDATE pod_marks SET marked_at = 1'))
    await ringForIntents(host.id)
    await host.waitFor((w) => w.id === `${good}-1` && w.desired === 'held')
    expect(await marksOf(host.id)).toEqual([{ pod_id: bad }])
    await env.DB.prepare('UPDATE pods SET spec = ? WHERE id = ?').bind(JSON.stringify(spec), bad).run()
    await ringForIntents(host.id)
    expect(await marksOf(host.id)).toEqual([])
    host.leave()
  })

  it('[POD-9] makes placement skip a host whose object does not reply', async () => {
    const type = 'NVIDIA RTX 4000 Ada Generation'
    const hosts = [await FakeHost.join({ ...gpus(1, type), vcpus: 8 }), await FakeHost.join({ ...gpus(2, type), vcpus: 64 })]
    const draft = draftPod(await teamOf(await createAccount()), `podb${Date.now()}`, { compute: compute(type) })
    const placedThere = await placePod(withoutHost(env, hosts[0]?.id ?? ''), draft, () => [])
    expect(placedThere).toMatchObject({ ok: true, pod: { hostId: hosts[1]?.id } })
    for (const host of hosts) host.leave()
  })
})

/** An environment in which one host object fails every call. */
function withoutHost(real: Env, hostId: string): Env {
  const broken = real.HOST.idFromName(hostId).toString()
  const refuse = () => Promise.reject(new Error('the host object is overloaded'))
  const get = (id: DurableObjectId) => (id.toString() === broken ? { recordPodIntent: refuse, clearPodIntent: refuse } : real.HOST.get(id))
  return { ...real, HOST: { idFromName: (name: string) => real.HOST.idFromName(name), get } as unknown as Env['HOST'] }
}

/** Host objects that take an intent record and are unreachable afterwards. */
function withoutSync(real: Env): Env {
  const stub = (id: DurableObjectId) => {
    const host = real.HOST.get(id)
    return {
      recordPodIntent: (hostId: string, podId: string) => host.recordPodIntent(hostId, podId),
      syncPod: () => Promise.reject(new Error('the host object is overloaded')),
    }
  }
  return { ...real, HOST: { idFromName: (name: string) => real.HOST.idFromName(name), get: stub } as unknown as Env['HOST'] }
}
