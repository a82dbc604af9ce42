import { openRecords } from '../../../src/db/client.ts'
import { updatePod } from '../../../src/db/pods/pods.ts'
import { decideAction } from '../../../src/domain/pod/pod.ts'
import { placePod } from '../../../src/effects/pods/place-pod.ts'
import { transitPod } from '../../../src/effects/pods/pod-transitions.ts'
import type { Env } from '../../../src/env.ts'
import { FakeHost } from '../../support/fake-host.ts'
import { gpus } from '../../support/gpus.ts'
import { createAccount, describe, env, evictDurableObject, expect, it, runInDurableObject, teamOf } from '../../support/harness.ts'
import { BY_TEST, compute, draftPod, hostedPod, placed, readPod, ringForMarks } from '../../support/pods.ts'
import { hostStub } from '../../support/stubs.ts'

const marksOf = (hostId: string) =>
  runInDurableObject(hostStub(env, hostId), (_, state) => state.storage.sql.exec('SELECT pod_id FROM pod_marks').toArray())

/** Writes a stop as a request does that dies before it tells the host. */
async function stopSilently(id: string): Promise<void> {
  const pod = await readPod(id)
  const outcome = decideAction(pod, 'stop', Date.now())
  if (!outcome.ok) throw new Error(outcome.detail)
  expect(await updatePod(openRecords(env), pod, outcome.change.pod, outcome.change.usage)).toBe(true)
}

describe('a request that dies between the row and its host', () => {
  it('[PP-116] the host object looks by itself, as long as the writer may still be writing', async () => {
    const { host, id } = await hostedPod()
    await hostStub(env, host.id).markPod(host.id, id)
    // The writer is slow: there is nothing to see yet at the first look.
    await ringForMarks(host.id)
    await stopSilently(id)
    expect(host.desired().find((w) => w.id === `${id}-1`)?.desired).toBe('running')
    await evictDurableObject(hostStub(env, host.id))
    await ringForMarks(host.id)
    await host.waitFor((w) => w.id === `${id}-1` && w.desired === 'held')
    host.leave()
  })

  it('[PP-116] marks of writers who can no longer be writing are forgotten, and nothing rings any more', async () => {
    const host = await FakeHost.join(gpus())
    await hostStub(env, host.id).markPod(host.id, 'nosuchpod')
    await ringForMarks(host.id)
    expect(await marksOf(host.id)).toHaveLength(1)
    await runInDurableObject(hostStub(env, host.id), (_, state) =>
      state.storage.sql.exec('UPDATE pod_marks SET marked_at = marked_at - 120001'),
    )
    await ringForMarks(host.id)
    expect(await marksOf(host.id)).toEqual([])
    const timers = await runInDurableObject(hostStub(env, host.id), (_, state) =>
      state.storage.sql.exec("SELECT 1 FROM timers WHERE name = 'pods'").toArray(),
    )
    expect(timers).toEqual([])
    host.leave()
  })

  it('[PP-116] a transition that is committed succeeds although its host object cannot be told', async () => {
    const { host, id } = await hostedPod()
    const pod = await readPod(id)
    const outcome = decideAction(pod, 'stop', Date.now())
    if (!outcome.ok) throw new Error(outcome.detail)
    expect(await transitPod(withoutSync(env), pod, outcome.change, BY_TEST)).toBe('done')
    expect((await readPod(id)).status).toBe('EXITED')
    await ringForMarks(host.id)
    await host.waitFor((w) => w.id === `${id}-1` && w.desired === 'held')
    host.leave()
  })
})

describe('one pod or host that makes trouble', () => {
  it('[PP-116] a pod that cannot be looked at keeps its mark and holds up no other', async () => {
    const host = await FakeHost.join(gpus(2))
    const [bad, good] = [await placed(host), await placed(host)].toSorted()
    if (!bad || !good) throw new Error('two pods')
    await host.waitFor((w) => w.id === `${good}-1`)
    const { spec } = await readPod(bad)
    await env.DB.prepare("UPDATE pods SET spec = '{' WHERE id = ?").bind(bad).run()
    for (const id of [bad, good]) await hostStub(env, host.id).markPod(host.id, id)
    await stopSilently(good)
    await runInDurableObject(hostStub(env, host.id), (_, state) => state.storage.sql.exec('UPDATE pod_marks SET marked_at = 1'))
    await ringForMarks(host.id)
    await host.waitFor((w) => w.id === `${good}-1` && w.desired === 'held')
    expect(await marksOf(host.id)).toEqual([{ pod_id: bad }])
    await env.DB.prepare('UPDATE pods SET spec = ? WHERE id = ?').bind(JSON.stringify(spec), bad).run()
    await ringForMarks(host.id)
    expect(await marksOf(host.id)).toEqual([])
    host.leave()
  })

  it('[POD-9] a host whose object cannot be asked is passed over', async () => {
    const type = 'NVIDIA RTX 4000 Ada Generation'
    const hosts = [await FakeHost.join({ ...gpus(1, type), vcpus: 8 }), await FakeHost.join({ ...gpus(2, type), vcpus: 64 })]
    const draft = draftPod(await teamOf(await createAccount()), `podb${Date.now()}`, { compute: compute(type) })
    const placedThere = await placePod(withoutHost(env, hosts[0]?.id ?? ''), draft, () => [])
    expect(placedThere).toMatchObject({ ok: true, pod: { hostId: hosts[1]?.id } })
    for (const host of hosts) host.leave()
  })
})

/** A plane in which one host object answers nothing. */
function withoutHost(real: Env, hostId: string): Env {
  const broken = real.HOST.idFromName(hostId).toString()
  const refuse = () => Promise.reject(new Error('the host object is overloaded'))
  const get = (id: DurableObjectId) => (id.toString() === broken ? { markPod: refuse, unmarkPod: refuse } : real.HOST.get(id))
  return { ...real, HOST: { idFromName: (name: string) => real.HOST.idFromName(name), get } as unknown as Env['HOST'] }
}

/** Host objects that take a mark and then cannot be reached. */
function withoutSync(real: Env): Env {
  const stub = (id: DurableObjectId) => {
    const host = real.HOST.get(id)
    return {
      markPod: (hostId: string, podId: string) => host.markPod(hostId, podId),
      syncPod: () => Promise.reject(new Error('the host object is overloaded')),
    }
  }
  return { ...real, HOST: { idFromName: (name: string) => real.HOST.idFromName(name), get: stub } as unknown as Env['HOST'] }
}
