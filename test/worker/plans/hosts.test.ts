import { admin, api, createAccount, describe, env, expect, it, teamOf } from '../../support/harness.ts'
import { FakeHost } from '../../support/hosts/fake-host.ts'
import { gpus } from '../../support/hosts/gpus.ts'
import { hostRow } from '../../support/hosts/hosts.ts'
import { compute, placed, readPod } from '../../support/pods/pods.ts'
import { run, setUpQueue } from '../../support/queue/queue.ts'

const pathOf = (id: string) => `/admin/v1/hosts/${id}`
/** GPU types that no other test of this file uses. */
const [B200, A4500, A30] = ['NVIDIA B200', 'NVIDIA RTX A4500', 'NVIDIA A30']
const brief = (plan: { effects: { kind: string; severity: string; resource: { kind: string; id: string }; amount: number | null }[] }) =>
  plan.effects.map(({ kind, severity, resource, amount }) => [kind, severity, resource.kind, resource.id, amount])
const allocationsOf = async (hostId: string) =>
  (await env.DB.prepare('SELECT id FROM allocations WHERE host_id = ? ORDER BY id').bind(hostId).all()).results

describe('[DRY-4] a dry run of a drain', () => {
  it('lists the jobs that finish, the workers that stop and the hosts of the next ones, and changes nothing; the drain has these effects', async () => {
    const host = await FakeHost.join(gpus(1, B200))
    const queue = await setUpQueue({ gpu: { pools: ['BLACKWELL_180'] }, workers: { min: 1, max: 2, idleTimeout: 60 } })
    const jobId = await run(queue)
    const worker = await host.startWorker(queue.endpointId)
    expect((await worker.take())?.id).toBe(jobId)
    await worker.ping([jobId])
    const state = async () => [await hostRow(host.id), await allocationsOf(host.id), host.desired()]
    const before = await state()
    const { status, body: plan } = await admin().post(`${pathOf(host.id)}/drain?dryRun=true`, {})
    expect(status).toBe(200)
    expect(plan).toMatchObject({ action: 'hosts.drain', resource: { kind: 'host', id: host.id }, refusal: null })
    expect(brief(plan)).toEqual([
      ['FINISHES', 'INFO', 'worker', worker.id, 1],
      ['STOPS', 'WARNING', 'worker', worker.id, null],
      ['WAITS', 'LOSS', 'endpoint', queue.endpointId, null],
    ])
    expect(plan.effects[0].resource.teamId).toBe(await teamOf(queue.account))
    expect(await state()).toEqual(before)
    const other = await FakeHost.join(gpus(1, B200))
    const again = (await admin().post(`${pathOf(host.id)}/drain?dryRun=true`, {})).body
    expect(brief(again).at(-1)).toEqual(['MOVES', 'INFO', 'endpoint', queue.endpointId, null])
    expect((await admin().post(`${pathOf(host.id)}/drain`, {})).body).toMatchObject({ draining: true })
    await other.startWorker(queue.endpointId)
    expect(host.desired().find((workload) => workload.id === worker.id)?.desired).toBe('running')
    await worker.done(jobId, { output: 1 })
    await host.waitFor((workload) => workload.id === worker.id && workload.desired === 'stopped')
    for (const one of [host, other]) one.leave()
  })

  it('states for each pod whether it moves, waits for room or stays; the drain moves the named ones', async () => {
    const host = await FakeHost.join(gpus(3, A4500))
    const movable = { onHostLoss: 'REPLACE' as const, compute: compute(A4500) }
    const [first, second, third] = [
      await placed(host, movable),
      await placed(host, movable),
      await placed(host, { ...movable, onHostLoss: 'WAIT' as const }),
    ]
    const other = await FakeHost.join(gpus(1, A4500))
    const { body: plan } = await admin().post(`${pathOf(host.id)}/drain?dryRun=true`, {})
    const fates = new Map<string, string>(brief(plan).map(([kind, , , id]) => [String(id), String(kind)]))
    expect([fates.get(first), fates.get(second)].toSorted()).toEqual(['MOVES', 'WAITS'])
    expect(fates.get(third)).toBe('STAYS')
    await admin().post(`${pathOf(host.id)}/drain`, {})
    for (const id of [first, second, third]) {
      expect((await readPod(id)).hostId, fates.get(id) ?? '').toBe(fates.get(id) === 'MOVES' ? other.id : host.id)
    }
    for (const one of [host, other]) one.leave()
  })
})

describe('[DRY-4] a dry run of a cordon and of a removal', () => {
  it('of a cordon leaves the host open; of a removal returns the refusal of the real one', async () => {
    const host = await FakeHost.join(gpus(1, A30))
    const id = await placed(host, { compute: compute(A30) })
    const cordon = await admin().post(`${pathOf(host.id)}/cordon?dryRun=true`, { reason: 'fan' })
    expect(brief(cordon.body)).toEqual([['STAYS', 'INFO', 'host', host.id, null]])
    expect((await admin().get(pathOf(host.id))).body.cordon).toBeNull()
    const foretold = await admin().delete(`${pathOf(host.id)}?dryRun=true`)
    const real = await admin().delete(pathOf(host.id))
    expect(real.status).toBe(409)
    expect(foretold).toMatchObject({ status: 200, body: { effects: [], refusal: real.body } })
    host.leave()
    await env.DB.prepare("UPDATE hosts SET status = 'OFFLINE' WHERE id = ?").bind(host.id).run()
    const given = (await admin().delete(`${pathOf(host.id)}?dryRun=true`)).body
    expect(brief(given)).toEqual([
      ['DELETES', 'WARNING', 'host', host.id, null],
      ['DELETES', 'LOSS', 'pod', id, null],
    ])
    expect((await hostRow(host.id)).status).toBe('OFFLINE')
    expect((await admin().delete(pathOf(host.id))).status).toBe(204)
    expect((await readPod(id)).status).toBe('EXITED')
  })

  it('is only for the operator, and 404 for an unknown host', async () => {
    const host = await FakeHost.join(gpus(1, A30))
    const { key } = await createAccount()
    expect((await api(key).post(`${pathOf(host.id)}/drain?dryRun=true`, {})).status).toBe(401)
    for (const verb of ['cordon', 'drain']) {
      expect((await admin().post(`${pathOf('nosuchhost')}/${verb}?dryRun=true`, {})).status).toBe(404)
    }
    expect((await admin().delete(`${pathOf('nosuchhost')}?dryRun=true`)).status).toBe(404)
    host.leave()
  })
})
