import { Host, JoinToken, NewJoinToken } from '../../../src/contract/hosts/hosts.ts'
import { openDatabase, openRecords } from '../../../src/db/client.ts'
import { reserveCapacity } from '../../../src/db/hosts/capacity.ts'
import { insertPod } from '../../../src/db/pods/pods.ts'
import { NO_RATES } from '../../../src/domain/money.ts'
import { placePod } from '../../../src/effects/pods/place-pod.ts'
import { admin, createAccount, describe, env, expect, it, teamOf } from '../../support/harness.ts'
import { FakeHost } from '../../support/hosts/fake-host.ts'
import { hostRow } from '../../support/hosts/hosts.ts'
import { compute, draftPod } from '../../support/pods/pods.ts'
import { run, runAndTake, setUpQueue } from '../../support/queue/queue.ts'

const gpus = (typeId: string, count: number) => ({
  gpus: [{ typeId, count, memoryMb: 24_576, driverVersion: '570.124.06', cudaVersion: '12.8', simulated: true }],
})
const hostsApi = (id: string) => ({
  read: async () => (await admin().get(`/admin/v1/hosts/${id}`)).body,
  post: (verb: string, body?: unknown) => admin().post(`/admin/v1/hosts/${id}/${verb}`, body),
})

describe('join tokens', () => {
  it('[HOST-30] are listed without the secret, used ones with their host', async () => {
    const created = (await admin().post('/admin/v1/join-tokens', { name: 'gpu-07', dataCenterId: 'EU-RO-1', cloud: 'COMMUNITY' })).body
    expect(NewJoinToken.parse(created)).toEqual(created)
    const host = await FakeHost.enrol({}, { name: 'listed-host' })
    const { joinTokens } = (await admin().get('/admin/v1/join-tokens')).body
    const own = joinTokens.find(({ id }: { id: string }) => id === created.id)
    const { token, ...shown } = created
    expect(own).toEqual({ ...shown, createdAt: expect.stringMatching(/Z$/), usedAt: null, usedByHostId: null })
    expect(JoinToken.parse(own)).toEqual(own)
    const used = joinTokens.find(({ usedByHostId }: { usedByHostId: string }) => usedByHostId === host.id)
    expect(used).toMatchObject({ name: 'listed-host', cloud: 'SECURE', usedAt: expect.stringMatching(/Z$/) })
    expect(JSON.stringify(joinTokens)).not.toContain('ppj_')
    expect(token).toMatch(/^ppj_/)
  })

  it('[HOST-30] can be revoked and then enrol no host; a used one is 409, an unknown one 404', async () => {
    const { id } = (await admin().post('/admin/v1/join-tokens', { name: 'never' })).body
    expect((await admin().delete(`/admin/v1/join-tokens/${id}`)).status).toBe(204)
    expect((await admin().delete(`/admin/v1/join-tokens/${id}`)).status).toBe(404)
    expect(await env.DB.prepare('SELECT COUNT(*) AS n FROM join_tokens WHERE id = ?').bind(id).first()).toEqual({ n: 0 })
    const host = await FakeHost.enrol()
    const { joinTokens } = (await admin().get('/admin/v1/join-tokens')).body
    const used = joinTokens.find(({ usedByHostId }: { usedByHostId: string }) => usedByHostId === host.id)
    expect((await admin().delete(`/admin/v1/join-tokens/${used.id}`)).body).toMatchObject({ status: 409, code: 'IN_USE' })
  })

  it('[HOST-30] are deleted 30 days after their end when another one is made', async () => {
    const { id } = (await admin().post('/admin/v1/join-tokens', {})).body
    const { id: recent } = (await admin().post('/admin/v1/join-tokens', {})).body
    const days = (count: number) => Date.now() - count * 24 * 3_600_000
    await env.DB.prepare('UPDATE join_tokens SET expires_at = ? WHERE id = ?').bind(days(31), id).run()
    await env.DB.prepare('UPDATE join_tokens SET expires_at = ? WHERE id = ?').bind(days(29), recent).run()
    await admin().post('/admin/v1/join-tokens', {})
    const ids = (await admin().get('/admin/v1/join-tokens')).body.joinTokens.map((token: { id: string }) => token.id)
    expect(ids).not.toContain(id)
    expect(ids).toContain(recent)
  })

  it('refuse an invalid cloud', async () => {
    expect((await admin().post('/admin/v1/join-tokens', { cloud: 'ALL' })).status).toBe(422)
  })
})

describe('inventory', () => {
  it('[HOST-40] cloud, address, port range, driver and CUDA version are those of the token and the agent', async () => {
    const received = { publicIp: '203.0.113.7', portRange: { from: 40_000, to: 40_100 } }
    const host = await FakeHost.join({ ...received, ...gpus('NVIDIA A40', 2) }, { cloud: 'COMMUNITY' })
    const read = await hostsApi(host.id).read()
    expect(Host.parse(read)).toEqual(read)
    expect(read).toMatchObject({ cloud: 'COMMUNITY', ...received, health: 'HEALTHY', cordon: null, draining: false, gpuProblems: [] })
    expect(read.gpus).toEqual([
      { typeId: 'NVIDIA A40', total: 2, free: 2, simulated: true, driverVersion: '570.124.06', cudaVersion: '12.8' },
    ])
    expect(await hostRow(host.id)).toMatchObject({ public_ip: '203.0.113.7', cloud: 'COMMUNITY' })
    host.leave()
  })

  it('[HOST-40] an agent of an older release reports neither address nor ports', async () => {
    const host = await FakeHost.join(gpus('NVIDIA A40', 1))
    expect(await hostsApi(host.id).read()).toMatchObject({ cloud: 'SECURE', publicIp: null, portRange: { from: 30_000, to: 32_767 } })
    host.leave()
  })
})

describe('a cordoned host', () => {
  it('[HOST-31] keeps its workloads and gets nothing new until it is uncordoned', async () => {
    const host = await FakeHost.join(gpus('NVIDIA L4', 2))
    const queue = await setUpQueue({ gpu: { pools: ['AMPERE_24'] }, workers: { min: 0, max: 2, idleTimeout: 60 } })
    const jobId = await run(queue)
    const worker = await host.startWorker(queue.endpointId)
    expect((await worker.take())?.id).toBe(jobId)
    const { read, post } = hostsApi(host.id)
    const cordoned = await post('cordon', { reason: 'fan replacement' })
    expect(cordoned.status).toBe(200)
    expect(cordoned.body).toMatchObject({
      cordon: { by: 'operator', reason: 'fan replacement' },
      draining: false,
      workloads: { workers: 1, pods: 0 },
    })

    await run(queue)
    const placed = await setUpQueue({ gpu: { pools: ['AMPERE_24'] } })
    const waiting = await run(placed)
    const explained = (await placed.get(`/explain/${waiting}`)).body
    expect(explained.reason).toBe('NO_CAPACITY')
    expect(JSON.stringify(explained.placement)).toContain('needs a host that is not cordoned')
    expect(
      host
        .desired()
        .filter((w) => w.desired === 'running')
        .map((w) => w.id),
    ).toEqual([worker.id])

    expect((await post('uncordon')).body).toMatchObject({ cordon: null, draining: false })
    await host.waitFor((w) => w.desired === 'running' && w.id !== worker.id)
    expect((await read()).workloads.workers).toBe(2)
    host.leave()
  })

  it('[HOST-31] takes nothing when the cordon comes between choice and reservation', async () => {
    const host = await FakeHost.join(gpus('NVIDIA A30', 1))
    const want = {
      id: 'late',
      teamId: 't',
      hostId: host.id,
      kind: 'worker' as const,
      ownerId: 'e',
      gpu: null,
      vcpus: 1,
      memoryMb: 1,
      diskGb: 1,
      rates: NO_RATES,
    }
    await hostsApi(host.id).post('cordon', {})
    expect(await reserveCapacity(openDatabase(env.DB), want, Date.now())).toBe('host')
    host.leave()
  })

  it('[HOST-31] takes no pod, chosen before the cordon or after it', async () => {
    const typeId = 'NVIDIA A100-SXM4-80GB'
    const host = await FakeHost.join(gpus(typeId, 1))
    const draft = draftPod(await teamOf(await createAccount()), `podc${Date.now()}`, { compute: compute(typeId) })
    await hostsApi(host.id).post('cordon', {})
    const placed = await placePod(env, draft, () => [])
    expect(placed.ok ? [] : placed.refusals.flatMap(({ failed }) => failed)).toContain('schedulable: yes > cordoned')
    const granted = { hostId: host.id, dataCenterId: 'LOCAL-1', publicIp: null, cudaVersion: '12.8', vcpus: 2, memoryMb: 1024 }
    const resources = { gpu: { typeId, count: 1 }, vcpus: 2, memoryMb: 1024, diskGb: 10 }
    expect(await insertPod(openRecords(env), { ...draft, ...granted }, resources)).toBe('host')
    expect(await hostsApi(host.id).read()).toMatchObject({ workloads: { workers: 0, pods: 0 } })
    host.leave()
  })

  it('[HOST-31] keeps the time of its first cordon and takes the newest reason; unknown hosts and bad bodies are refused', async () => {
    const host = await FakeHost.enrol()
    const { post } = hostsApi(host.id)
    const first = (await post('cordon', { reason: 'a' })).body.cordon
    await env.DB.prepare('UPDATE hosts SET cordoned_at = cordoned_at - 60000 WHERE id = ?').bind(host.id).run()
    const again = (await post('cordon', {})).body.cordon
    expect(Date.parse(again.at)).toBe(Date.parse(first.at) - 60_000)
    expect(again.reason).toBeNull()
    for (const body of [{ reason: '' }, { reason: 'a\nb' }, { reason: 'x'.repeat(201) }, { because: 'x' }]) {
      expect((await post('cordon', body)).status).toBe(422)
      expect((await post('drain', body)).status).toBe(422)
    }
    for (const verb of ['cordon', 'uncordon', 'drain']) {
      expect((await hostsApi('nosuchhost').post(verb, verb === 'uncordon' ? undefined : {})).status).toBe(404)
    }
  })
})

describe('a drained host', () => {
  it('[HOST-32] lets its workers finish their jobs and end, and they are replaced on other hosts', async () => {
    const host = await FakeHost.join(gpus('NVIDIA B200', 1))
    const queue = await setUpQueue({ gpu: { pools: ['BLACKWELL_180'] }, workers: { min: 1, max: 2, idleTimeout: 60 } })
    const jobId = await run(queue)
    const worker = await host.startWorker(queue.endpointId)
    expect((await worker.take())?.id).toBe(jobId)
    await worker.ping([jobId])

    const other = await FakeHost.join(gpus('NVIDIA B200', 1))
    const { read, post } = hostsApi(host.id)
    expect((await post('drain', { reason: 'kernel update' })).body).toMatchObject({ draining: true, cordon: { reason: 'kernel update' } })
    const second = await other.startWorker(queue.endpointId)
    const next = await run(queue)
    expect((await second.take())?.id).toBe(next)
    expect(host.desired().find((w) => w.id === worker.id)?.desired).toBe('running')
    await worker.done(jobId, { output: 'kept' })
    await host.waitFor((w) => w.id === worker.id && w.desired === 'stopped')
    await host.report(worker.id, { state: 'gone' })
    expect((await queue.get(`/status/${jobId}`)).body).toMatchObject({ status: 'COMPLETED', output: 'kept' })
    expect((await read()).workloads).toEqual({ workers: 0, pods: 0 })
    expect((await admin().delete(`/admin/v1/hosts/${host.id}`)).status).toBe(204)
    other.leave()
  })

  it('[HOST-32] an idle worker goes at once; a second drain changes nothing', async () => {
    const host = await FakeHost.join(gpus('NVIDIA RTX A4000', 1))
    const queue = await setUpQueue({ gpu: { pools: ['AMPERE_16'] } })
    const jobId = await run(queue)
    const worker = await host.startWorker(queue.endpointId)
    expect((await worker.take())?.id).toBe(jobId)
    await worker.done(jobId, { output: 1 })
    const { post } = hostsApi(host.id)
    await post('drain', {})
    await host.waitFor((w) => w.id === worker.id && w.desired === 'stopped')
    expect((await post('drain', {})).body).toMatchObject({ draining: true, workloads: { workers: 1, pods: 0 } })
    host.leave()
  })
})

it('[HOST-32] does not affect a job of an endpoint on another host', async () => {
  const queue = await setUpQueue()
  const { jobId, worker } = await runAndTake(queue)
  const host = await FakeHost.join(gpus('NVIDIA H100 PCIe', 1))
  await hostsApi(host.id).post('drain', {})
  await worker.done(jobId, { output: 1 })
  expect((await queue.get(`/status/${jobId}`)).body.status).toBe('COMPLETED')
  expect(queue.host.desired().find((w) => w.id === worker.id)?.desired).toBe('running')
  host.leave()
})
