import { sql } from 'drizzle-orm'
import fc from 'fast-check'
import { openDatabase } from '../../../../src/db/client.ts'
import { recomputeHost } from '../../../../src/db/hosts/capacity.ts'
import { withinDiskShare } from '../../../../src/db/hosts/disk-share.ts'
import { listPodHosts } from '../../../../src/db/hosts/placement-hosts.ts'
import { diskRoom } from '../../../../src/domain/host/disk-share.ts'
import { admin, api, createAccount, createKeyIn, createOrganization, describe, env, expect, it, teamOf } from '../../../support/harness.ts'
import { FakeHost } from '../../../support/hosts/fake-host.ts'
import { gpus } from '../../../support/hosts/gpus.ts'
import { PODS, PodScene, podBody } from '../../../support/pods/pod-scene.ts'

const TYPE = 'NVIDIA RTX 2000 Ada Generation'
const MACHINE = { ...gpus(8, TYPE), diskGb: 400, vcpus: 64, memoryMb: 512_000 }
const SHARE = /above the share of this account's pods \(including stopped ones\) on the host/
const big = (disk: number) => podBody({ gpu: { id: TYPE }, disk })

async function held(hostId: string): Promise<number> {
  const row = await env.DB.prepare('SELECT SUM(disk_gb) AS gb FROM allocations WHERE host_id = ?').bind(hostId).first<{ gb: number }>()
  return row?.gb ?? 0
}

/** An allocation on a host, as the plane writes it. */
function allocate(hostId: string, id: string, teamId: string, kind: 'pod' | 'worker', diskGb: number) {
  return env.DB.prepare('INSERT INTO allocations SELECT ?, ?, ?, ?, ?, NULL, 0, 0, 0, ?, 0, NULL, 0, 0, 0').bind(
    id,
    teamId,
    hostId,
    kind,
    id,
    diskGb,
  )
}

async function stopped(scene: PodScene, body: Record<string, unknown>): Promise<string> {
  const { id } = await scene.create(body)
  await scene.run(id)
  expect((await scene.act(id, 'stop')).status).toBe(200)
  await scene.host.report(`${id}-1`, { state: 'exited' })
  return id
}

// This test comes first, because later tests create more users.
it('[SHR-41] a plane with one person reserves nothing for others', async () => {
  const host = await FakeHost.join(MACHINE)
  const scene = new PodScene(host, await createAccount())
  expect(await env.DB.prepare("SELECT COUNT(*) AS n FROM teams WHERE kind = 'PERSONAL'").first()).toEqual({ n: 1 })
  const { id } = await scene.create(big(400))
  await scene.run(id)
  await scene.end(id)
  scene.leave()
})

describe('[SHR-41] the share of a person in the disk of a host', () => {
  it('limits stopped pods of all accounts of a person, and other persons find room', async () => {
    const scene = new PodScene(await FakeHost.join(MACHINE), await createAccount())
    const victim = api((await createAccount()).key)
    const own = await stopped(scene, { gpu: { id: TYPE }, disk: 200 })
    const organization = await createOrganization(scene.account.key)
    const theirs = api((await createKeyIn(organization, scene.account)).key)
    const before = await held(scene.host.id)
    const refused = await theirs.post(`${PODS}?dryRun=true`, big(150))
    expect(JSON.stringify(refused.body)).toMatch(SHARE)
    expect(await theirs.post(PODS, big(150))).toMatchObject({ status: 400, body: { code: 'NO_CAPACITY' } })
    expect((await api(scene.account.key).post(PODS, big(150))).status).toBe(400)
    expect(await held(scene.host.id)).toBe(before)

    const found = await victim.post(PODS, big(100))
    expect(found.status).toBe(201)
    expect(await held(scene.host.id)).toBe(before + 100)
    // The pod starts with the disk that it already holds.
    expect((await scene.act(own, 'start')).status).toBe(200)
    scene.leave()
  })

  it('is not exceeded by simultaneous creates', async () => {
    const scene = new PodScene(await FakeHost.join(MACHINE), await createAccount())
    await createAccount()
    const replies = await Promise.all([scene.call.post(PODS, big(160)), scene.call.post(PODS, big(160))])
    expect(replies.map(({ status }) => status).toSorted()).toEqual([201, 400])
    expect(await held(scene.host.id)).toBe(160)
    scene.leave()
  })

  it('is not exceeded by a growing disk, also in a plan, and the refusal names it', async () => {
    const scene = new PodScene(await FakeHost.join(MACHINE), await createAccount())
    await createAccount()
    const id = await stopped(scene, { gpu: { id: TYPE }, disk: 200 })
    const grow = { disk: 301 }
    const said = { code: 'NO_CAPACITY', detail: expect.stringMatching(/have reached their share of the disk/) }
    expect(await scene.call.patch(`${PODS}/${id}?dryRun=true`, grow)).toMatchObject({ status: 200, body: { refusal: said } })
    expect(await scene.call.patch(`${PODS}/${id}`, grow)).toMatchObject({ status: 400, body: said })
    expect(await held(scene.host.id)).toBe(200)
    expect((await scene.call.patch(`${PODS}/${id}`, { disk: 300 })).status).toBe(200)
    expect((await scene.call.patch(`${PODS}/${id}`, { disk: 401 })).body.detail).toMatch(/not enough free disk/)
    scene.leave()
  })

  it('is not exceeded by the members of a cluster together', async () => {
    const scene = new PodScene(
      await FakeHost.join({ ...MACHINE, overlay: { address: '192.0.2.9', reason: null, encryption: 'none' } }),
      await createAccount(),
    )
    await createAccount()
    const cluster = (disk: number) => ({
      name: 'c',
      image: 'acme/idle:1',
      compute: { gpuTypeId: TYPE, gpuCountPerPod: 1, podCount: 2 },
      type: 'TRAINING',
      disk,
    })
    const refused = await scene.call.post('/v2/clusters', cluster(160))
    expect(refused).toMatchObject({ status: 400, body: { code: 'NO_CAPACITY' } })
    expect(await held(scene.host.id)).toBe(0)
    expect((await scene.call.post('/v2/clusters', cluster(150))).status).toBe(201)
    expect(await held(scene.host.id)).toBe(300)
    scene.leave()
  })

  it.each([
    ['takes one account at a time', { network: false }],
    ['is for accounts that trust one another', { network: true, trustedTenants: true }],
  ])('is not limited on a host that %s', async (_what, isolation) => {
    const scene = new PodScene(await FakeHost.join({ ...MACHINE, isolation }), await createAccount())
    await createAccount()
    expect((await scene.call.post(PODS, big(400))).status).toBe(201)
    scene.leave()
  })

  it('does not include the disk of workers, in either direction', async () => {
    const scene = new PodScene(await FakeHost.join(MACHINE), await createAccount())
    await createAccount()
    await allocate(scene.host.id, 'w', await scene.team(), 'worker', 100).run()
    expect((await scene.call.post(PODS, big(300))).status).toBe(201)
    scene.leave()
  })

  it('does not prevent a move to another host, as the plan of the drain says', async () => {
    const account = await createAccount()
    const scene = new PodScene(await FakeHost.join(MACHINE), account)
    const { id } = await scene.create({ gpu: { id: TYPE }, disk: 200, onHostLoss: 'REPLACE' })
    await scene.run(id)
    const other = await FakeHost.join(MACHINE)
    await allocate(other.id, 'o', await teamOf(await createAccount()), 'pod', 150).run()
    expect((await scene.call.post(PODS, big(200))).body.code).toBe('NO_CAPACITY')
    const drain = `/admin/v1/hosts/${scene.host.id}/drain`
    expect(JSON.stringify((await admin().post(`${drain}?dryRun=true`, {})).body)).toMatch(/MOVE/)
    expect((await admin().post(drain, {})).status).toBeLessThan(300)
    await other.waitFor((workload) => workload.id.startsWith(id))
    scene.leave()
    other.leave()
  })
})

it('[SHR-41] the statement that reserves disk decides as placement does', async () => {
  const host = await FakeHost.join({ ...MACHINE, ...gpus(1, 'NVIDIA RTX 4000 Ada Generation') })
  const [mine, other] = await Promise.all([createAccount(), createAccount()])
  const [teamId, otherId] = await Promise.all([teamOf(mine), teamOf(other)])
  const db = openDatabase(env.DB)
  const gb = fc.nat(400)
  let [allowed, refused] = [0, 0]
  await fc.assert(
    fc.asyncProperty(gb, gb, gb, fc.integer({ min: 1, max: 400 }), async (own, a, b, more) => {
      // Keeps the sum within the disk of the host.
      const worker = a % (401 - own)
      const others = b % (401 - own - worker)
      await env.DB.batch([
        env.DB.prepare('DELETE FROM allocations WHERE host_id = ?').bind(host.id),
        allocate(host.id, 'a', teamId, 'pod', own),
        allocate(host.id, 'b', teamId, 'worker', worker),
        allocate(host.id, 'c', otherId, 'pod', others),
      ])
      await db.batch([...recomputeHost(db, host.id, 'lenient')])
      const use = (await listPodHosts(db, teamId)).find(({ id }) => id === host.id)?.diskUse
      const [row] = await db.values<[number]>(sql`SELECT ${withinDiskShare(teamId, host.id, { id: '', diskGb: more })}`)
      const isAllowed = Number(row?.[0]) === 1
      expect(use !== undefined && more <= diskRoom(use)).toBe(isAllowed)
      isAllowed ? allowed++ : refused++
    }),
    { numRuns: 200 },
  )
  expect(Math.min(allowed, refused)).toBeGreaterThan(20)
  await env.DB.prepare('DELETE FROM allocations WHERE host_id = ?').bind(host.id).run()
  host.leave()
})
