import fc from 'fast-check'
import { openDatabase } from '../../../src/db/client.ts'
import { findPlacementHosts, listPlacementHosts, listPodHosts } from '../../../src/db/hosts/placement-hosts.ts'
import { classesOfRequest } from '../../../src/domain/host/openings.ts'
import { type PlacementHost, rankHosts } from '../../../src/domain/host/placement.ts'
import { classesOfPod, rankHostsForPod } from '../../../src/domain/pod/place/placement.ts'
import { fleetReader } from '../../../src/effects/placement/fleet.ts'
import { searchHosts } from '../../../src/effects/placement/search.ts'
import { createAccount, env, expect, it, teamOf } from '../../support/harness.ts'
import { idOf, type RandomHost, randomHost, randomPod, randomRequest } from '../../support/hosts/random-fleet.ts'

const WANTED = 5
const RUNS = 200
const EMPTY = "UPDATE hosts SET status = 'REMOVED'"
const SAME = ['SELECT * FROM openings EXCEPT SELECT * FROM host_openings', 'SELECT * FROM host_openings EXCEPT SELECT * FROM openings']

const db = openDatabase(env.DB)
let fleets = 0

/** Statements that write a fleet as its hosts would; ids are new in each fleet. */
function fleetStatements(fleet: readonly RandomHost[], teamIds: readonly string[]): D1PreparedStatement[] {
  fleets += 1
  return fleet.flatMap((host, at) => {
    const id = `f${fleets}-${idOf(at)}`
    const { runtimes, sharedVolumes, isolates, runtimeClass, overlay, diskFull } = host
    const inventory = {
      ...{ runtimes, isolation: { network: isolates, runtimeClass }, overlay: { address: overlay === 'routed' ? '10.0.0.1' : null } },
      ...(sharedVolumes && { sharedVolumes }),
      ...(diskFull && { diskProblem: 'read-only' }),
    }
    const insert =
      env.DB.prepare(`INSERT INTO hosts (id, name, data_center_id, status, public_key_x, epoch, inventory, vcpu_total, vcpu_free,
      memory_mb_total, memory_mb_free, disk_gb_total, disk_gb_free, created_at, cloud, cordoned_at)
      VALUES (?1, ?1, ?2, ?3, ?1, 1, ?4, ?5, ?6, ?7, ?8, 200, ?9, 1, ?10, ?11)`)
    const capacity = [host.vcpuTotal, host.vcpuFree, host.memoryMbTotal, host.memoryMbFree, host.diskGbFree]
    const status = host.online ? 'ONLINE' : 'OFFLINE'
    const held =
      env.DB.prepare(`INSERT INTO allocations (id, team_id, host_id, kind, owner_id, gpu_count, vcpu, memory_mb, disk_gb, created_at)
      VALUES (?, ?, ?, 'pod', 'p', 0, 0, 0, 60, 1)`)
    return [
      insert.bind(id, host.dataCenterId, status, JSON.stringify(inventory), ...capacity, host.cloud, host.cordoned ? 1 : null),
      ...host.gpus.map(({ typeId, cudaVersion, total, free }) =>
        env.DB.prepare('INSERT INTO host_gpus VALUES (?, ?, ?, ?, ?)').bind(id, typeId, cudaVersion, total, free),
      ),
      ...host.holders.map((number) => held.bind(`${id}-${number}`, teamIds[number], id)),
      // An allocation is written with the free capacity of its host.
      env.DB.prepare('UPDATE hosts SET vcpu_free = vcpu_free WHERE id = ?').bind(id),
    ]
  })
}

function expectSame(found: readonly unknown[] | null, all: readonly unknown[]): void {
  // The caller ranks the whole fleet then.
  if (found === null) return
  expect(found).toEqual(all.slice(0, found.length))
  expect(found.length).toBeGreaterThanOrEqual(Math.min(WANTED, all.length))
}

it('[PLACE-1] the search in D1 answers as a scan of the whole fleet, for workers and for pods', { timeout: 300_000 }, async () => {
  const ada = await teamOf(await createAccount())
  const teamIds = [ada, await teamOf(await createAccount())]
  let fitting = 0
  const runs = fc.asyncProperty(
    fc.array(randomHost, { minLength: 8, maxLength: 14 }),
    randomRequest(ada),
    randomPod,
    fc.constantFrom('pack' as const, 'spread' as const),
    fc.constantFrom(null, null, 'runsc'),
    async (fleet, request, spec, strategy, required) => {
      const demand = env.DB.prepare('UPDATE teams SET runtime_class = ? WHERE id = ?').bind(required, ada)
      await env.DB.batch([env.DB.prepare(EMPTY), demand, ...fleetStatements(fleet, teamIds)])
      for (const one of SAME) expect((await env.DB.prepare(one).all()).results).toEqual([])

      const judge = (rank: number, hosts: readonly PlacementHost[]) =>
        rankHosts({ ...request, shapes: request.shapes.slice(rank, rank + 1) }, hosts).candidates
      const reader = fleetReader(db, 'pack', { teamId: ada, sharesDisk: false })
      const found = await searchHosts(reader, { classes: classesOfRequest(request), strategy: 'pack', judge }, WANTED)
      expectSame(found, rankHosts(request, await listPlacementHosts(db)).candidates)

      const judgePod = (_rank: number, hosts: readonly PlacementHost[]) => rankHostsForPod(ada, spec, hosts, strategy).candidates
      const search = { classes: classesOfPod(ada, spec), strategy, judge: judgePod }
      const places = await searchHosts(fleetReader(db, strategy, { teamId: ada, sharesDisk: true }), search, WANTED)
      expectSame(places, rankHostsForPod(ada, spec, await listPodHosts(db, ada), strategy).candidates)
      if ((found?.length ?? 0) > 0 || (places?.length ?? 0) > 0) fitting += 1
    },
  )
  await fc.assert(runs, { numRuns: RUNS })
  expect(fitting).toBeGreaterThan(RUNS / 10)
})

it('[PLACE-1] a host read by its id is the one of a scan', async () => {
  const teamId = await teamOf(await createAccount())
  const fleet = fc.sample(randomHost, { numRuns: 20, seed: 7 }).map((host) => ({ ...host, online: true }))
  await env.DB.batch([env.DB.prepare(EMPTY), ...fleetStatements(fleet, [teamId, 'other'])])
  const all = await listPodHosts(db, teamId)
  const ids = all.map(({ id }) => id)
  expect(ids).toHaveLength(20)
  // A read by id asks for the requirements of this team alone; accounts of other tests may have some.
  const ownOnly = (host: PlacementHost) => ({
    ...host,
    requiredClasses: new Map([...host.requiredClasses].filter(([id]) => id === teamId)),
  })
  const byId = (hosts: readonly PlacementHost[]) => hosts.map(ownOnly).toSorted((a, b) => (a.id < b.id ? -1 : 1))
  expect(byId(await findPlacementHosts(db, ids, { teamId, sharesDisk: true }))).toEqual(byId(all))
})
