import { openDatabase } from '../../../src/db/client.ts'
import { releaseCapacity, reserveCapacity } from '../../../src/db/hosts/capacity.ts'
import { listPlacementHosts } from '../../../src/db/hosts/placement-hosts.ts'
import { NO_RATES } from '../../../src/domain/money.ts'
import type { Inventory } from '../../../src/host-protocol/messages.ts'
import { admin, createAccount, describe, env, expect, it } from '../../support/harness.ts'
import { FakeHost } from '../../support/hosts/fake-host.ts'
import { gpus } from '../../support/hosts/gpus.ts'
import { PodScene, podScene } from '../../support/pods/pod-scene.ts'

const TYPE = 'NVIDIA L40'
const LABELS = 'needs a host that isolates accounts, or one that no other account uses'
const db = () => openDatabase(env.DB)
const wanted = { gpu: { id: TYPE } }
const heldBy = async ({ id }: FakeHost) => (await listPlacementHosts(db())).find((host) => host.id === id)?.heldBy

describe('[HOST-85] a host that does not isolate containers', () => {
  it.each([
    ['whose agent says so', { isolation: { network: false } }],
    ['whose agent does not say', { isolation: undefined }],
  ] as const)('%s is for one account, until nothing of that account is left', async (_name, change) => {
    const first = await podScene({ ...gpus(3, TYPE), ...(change as Partial<Inventory>) })
    const second = new PodScene(first.host, await createAccount())
    expect(await heldBy(first.host)).toEqual([])
    const own = await first.create(wanted)
    const more = await first.create(wanted)
    const body = { name: 'p', image: 'acme/idle:1', ...wanted }
    const refused = await second.call.post('/v2/pods', body)
    const preview = await second.call.post('/v2/pods?dryRun=true', body)
    expect([refused.status, (await second.call.get('/v2/pods')).body.pods]).toEqual([400, []])
    expect(JSON.stringify(preview.body)).toContain(LABELS)
    expect([(await first.get(own.id)).status, await heldBy(first.host)]).toEqual(['PROVISIONING', [await first.team()]])
    await first.end(own.id)
    await first.end(more.id)
    await second.create(wanted)
    expect(await heldBy(first.host)).toEqual([await second.team()])
    first.leave()
  })

  it.each([
    ['that isolates them', { isolation: { network: true } }],
    ['whose accounts trust one another', { isolation: { network: false, trustedTenants: true } }],
    ['without containers', { isolation: undefined, runtimes: ['process'] }],
  ] as const)('is not a host %s', async (_name, change) => {
    const host = await FakeHost.join({ ...gpus(2, TYPE), ...(change as unknown as Partial<Inventory>) })
    expect([await reserve(host, 'ada'), await reserve(host, 'bob'), await heldBy(host)]).toEqual(['done', 'done', null])
    host.leave()
  })

  it('[HOST-110] takes several accounts once its agent reports isolation on the existing link, which counts as no second link', async () => {
    const host = await FakeHost.join({ ...gpus(2, TYPE), isolation: { network: false } })
    expect([await reserve(host, 'ada'), await reserve(host, 'bob')]).toEqual(['done', 'host'])
    await host.greetAgain({ isolation: { network: true } })
    expect([await reserve(host, 'bob'), await heldBy(host)]).toEqual(['done', null])
    expect((await admin().get(`/admin/v1/hosts/${host.id}`)).body).toMatchObject({ health: 'HEALTHY', linkReplacements: { count: 0 } })
    host.leave()
  })

  it('is reserved by one of two simultaneous accounts', async () => {
    const host = await FakeHost.join({ ...gpus(2, TYPE), isolation: { network: false } })
    const outcomes = await Promise.all([reserve(host, 'ada'), reserve(host, 'bob')])
    expect(outcomes.toSorted()).toEqual(['done', 'host'])
    await releaseCapacity(db(), `${host.id}-ada`, host.id, 0)
    await releaseCapacity(db(), `${host.id}-bob`, host.id, 0)
    expect(await reserve(host, 'bob')).toBe('done')
    host.leave()
  })
})

function reserve(host: FakeHost, teamId: string): Promise<string> {
  const want = { id: `${host.id}-${teamId}`, teamId, hostId: host.id, kind: 'worker' as const, ownerId: 'e', rates: NO_RATES }
  return reserveCapacity(db(), { ...want, gpu: { typeId: TYPE, count: 1 }, vcpus: 1, memoryMb: 1, diskGb: 1 }, 1)
}
