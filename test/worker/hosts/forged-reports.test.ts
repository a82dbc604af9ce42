import { grantLog } from '../../../src/effects/log-access.ts'
import { WorkloadState } from '../../../src/host-protocol/messages.ts'
import { snapshot, VICTIMS, type Victim } from '../../support/access/victims.ts'
import { afterAll, api, beforeAll, describe, env, expect, it, runInDurableObject } from '../../support/harness.ts'
import { CLUSTERS, ClusterScene, networked } from '../../support/hosts/cluster-scene.ts'
import { FakeHost } from '../../support/hosts/fake-host.ts'
import { clusterStub, hostStub } from '../../support/runner/stubs.ts'

// A host that has joined properly, runs nothing, and reports on workloads of other hosts.

const YEAR_MS = 365 * 24 * 3_600_000
const MAX = Number.MAX_SAFE_INTEGER
const GPU = 'NVIDIA RTX 4000 Ada Generation'

/** The objects that the forged messages name. */
interface About {
  pod: string
  endpoint: string
  worker: string
  cluster: string
  /** The private network of the cluster, the number of its current check, and its members. */
  overlay: string
  check: number
  members: string[]
  network: string
  global: string
  /** Deleted volumes that wait for their host to wipe them. */
  deleted: { kind: 'network' | 'global'; id: string }[]
  /** By workload: its log, with the grant of the host that runs it. */
  logs: { workloadId: string; access: { kind: 'pod' | 'worker'; ownerId: string; grant: string } }[]
}
type Forged = (about: About) => Record<string, unknown>

let about: About
let forger: FakeHost
let cluster: ClusterScene
const victims: Victim[] = []

/** All stored state of the victims, the workloads in the objects of all hosts, and the reachability reports of the cluster's object. */
async function everything(): Promise<unknown> {
  const hosts = (await env.DB.prepare('SELECT id FROM hosts ORDER BY id').all<{ id: string }>()).results
  const held = (id: string) =>
    runInDurableObject(hostStub(env, id), (_, { storage: { sql } }) => sql.exec('SELECT * FROM workloads ORDER BY id').toArray())
  const received = await runInDurableObject(clusterStub(env, about.cluster), (_, { storage: { sql } }) =>
    sql.exec('SELECT * FROM reports ORDER BY host_id').toArray(),
  )
  return [await Promise.all(victims.map(snapshot)), await Promise.all(hosts.map(({ id }) => held(id))), received]
}

/** Sends every message, returns the replies and expects that nothing of the victims has changed. */
async function answers<Answer>(
  messages: readonly Forged[],
  send: (message: Record<string, unknown>) => Promise<Answer>,
): Promise<Answer[]> {
  const before = await everything()
  const received: Answer[] = []
  for (const message of messages) received.push(await send(message(about)))
  expect(await everything()).toEqual(before)
  return received
}

const post = (path: Parameters<FakeHost['post']>[0]) => async (body: unknown) => {
  const reply = await forger.post(path, body)
  const text = await reply.text()
  return [reply.status, reply.status === 200 ? JSON.parse(text) : null]
}

async function victim(kind: string): Promise<Victim> {
  const made = await VICTIMS[kind]?.()
  if (made === undefined) throw new Error(`no victim for ${kind}`)
  victims.push(made)
  return made
}

/** A volume that a host has mounted; with `isDeleted` it waits for that host to wipe it. */
async function volume(kind: 'network' | 'global', hostId: string, isDeleted: boolean): Promise<string> {
  const { owner, params } = await victim(`/v2/${kind}-volumes/`)
  const id = params.id ?? ''
  await env.DB.prepare('INSERT INTO volume_hosts VALUES (?, ?, 1, NULL)').bind(id, hostId).run()
  if (isDeleted) expect((await api(owner.key).delete(`/v2/${kind}-volumes/${id}`)).status).toBe(204)
  return id
}

/** The id that a query returns. */
async function idOf(sql: string, value: string): Promise<string> {
  const row = await env.DB.prepare(sql).bind(value).first<{ id: string }>()
  if (!row) throw new Error(`nothing there: ${sql}`)
  return row.id
}
const hostOf = (workload: string) => idOf('SELECT host_id AS id FROM allocations WHERE id = ?', workload)

beforeAll(async () => {
  forger = await FakeHost.enrol({ gpus: [], sharedVolumes: ['network', 'global'] }, { dataCenterId: 'EU-RO-1' })
  const { id: pod = '' } = (await victim('/v2/pods/')).params
  const { id: endpoint = '', workerId: worker = '' } = (await victim('/v2/serverless/')).params
  const podHost = await hostOf(pod)
  // The members do not start before their hosts report that they reach one another.
  cluster = await ClusterScene.open(2, (index) => networked(`192.0.2.${index + 91}`, 2, GPU))
  const { id: clusterId } = await cluster.create({ compute: { gpuTypeId: GPU, gpuCountPerPod: 1, podCount: 3 } })
  const members = (await cluster.members(clusterId)).map(({ id }) => id)
  const reads = [CLUSTERS, `${CLUSTERS}/${clusterId}`, `${CLUSTERS}/${clusterId}/pods`]
  victims.push({ owner: cluster.account, params: { id: clusterId }, reads })
  const owners = [
    { kind: 'pod' as const, ownerId: pod, workloadId: `${pod}-1`, hostId: podHost },
    { kind: 'worker' as const, ownerId: endpoint, workloadId: worker, hostId: await hostOf(worker) },
  ]
  const logs = owners.map(async ({ hostId, ...owner }) => ({ workloadId: owner.workloadId, access: await grantLog(env, hostId, owner) }))
  about = {
    pod,
    endpoint,
    worker,
    cluster: clusterId,
    overlay: await idOf('SELECT id FROM overlays WHERE owner_id = ?', clusterId),
    check: await cluster.checkNumber(clusterId),
    members,
    network: await volume('network', podHost, false),
    global: await volume('global', podHost, false),
    deleted: [
      { kind: 'network', id: await volume('network', podHost, true) },
      { kind: 'global', id: await volume('global', podHost, true) },
    ],
    logs: await Promise.all(logs),
  }
}, 60_000)

afterAll(() => cluster.leave())

const STATES = WorkloadState.options
const TIMES = [-YEAR_MS, 0, YEAR_MS]
const SEQUENCES = [1, 2, MAX]
const said = (workloadId: string, change: object = {}) => {
  const ports = [{ private: 80, public: 31_337, type: 'http' }]
  return { workloadId, state: 'running', exitCode: 0, reason: 'forged', at: Date.now(), sequence: MAX, ports, ...change }
}
const idsIn = ({ pod, endpoint, worker, cluster: id, members }: About) => [
  `${pod}-1`,
  `${pod}-2`,
  pod,
  worker,
  endpoint,
  id,
  ...members.map((member) => `${member}-1`),
]

/** Requests, each with one report about every known id. */
const EVENTS: readonly Forged[] = STATES.flatMap((state) =>
  TIMES.flatMap((time) =>
    SEQUENCES.map((sequence) => (all: About) => ({
      reports: idsIn(all).map((id) => said(id, { state, at: Date.now() + time, sequence, health: 'failing', endedByHost: true })),
    })),
  ),
)
/** Requests that are refused as a whole, including their valid reports. */
const MALFORMED: readonly object[] = [
  { state: 'terminated' },
  { sequence: 1.5 },
  { sequence: 2 ** 53 },
  { at: '2026-01-01' },
  { exitCode: 'none' },
  { reason: 'x'.repeat(2_049) },
  { ports: [{ private: 80.5, public: 1, type: 'http' }] },
  { health: 'dead' },
]

const beat = (change: object) => ({ type: 'beat', beat: 1, appliedRevision: MAX, sentAt: Date.now() + YEAR_MS, workloads: [], ...change })
const stats = (all: About, change: object) => beat({ stats: idsIn(all).map((id) => ({ id, ...change })) })
const FULL = { util: 100, memoryUtil: 100, memoryBytes: MAX, memoryLimitBytes: 0, temperatureCelsius: 1_000, powerWatts: 100_000 }
const HELLOS: readonly Forged[] = [
  ...STATES.map((state) => (all: About) => ({ type: 'hello', workloads: idsIn(all).map((id) => said(id, { state })) })),
  ...TIMES.map((time) => (all: About) => ({
    type: 'hello',
    workloads: idsIn(all).map((id) => said(id, { state: 'exited', at: Date.now() + time })),
  })),
]
const BEATS: readonly Forged[] = [
  ...STATES.map((state) => (all: About) => beat({ workloads: idsIn(all).map((id) => ({ id, state })) })),
  (all) => stats(all, { cpu: 100, cpuWaiting: 100, memory: 100, memoryBytes: MAX, memoryLimitBytes: 0, gpuCount: 1_024 }),
  (all) => stats(all, { receivedPerSecond: MAX, sentPerSecond: MAX, readPerSecond: MAX, writtenPerSecond: MAX }),
  (all) => stats(all, { gpus: Array(64).fill(FULL) }),
  (all) => stats(all, {}),
]
/** Each of these heartbeats ends the link. */
const OUT_OF_RANGE: readonly Forged[] = [
  ...[{ cpu: 101 }, { cpu: -1 }, { memory: 0.5 }, { memoryBytes: 2 ** 53 }, { receivedPerSecond: -1 }, { gpuCount: 1_025 }],
  ...[{ gpus: Array(65).fill(FULL) }, { gpus: [{ ...FULL, powerWatts: 1e6 }] }, { gpus: [{ ...FULL, util: 101 }] }],
].map((change) => (all: About) => stats(all, change))

/** Log lines under the actual grants of the hosts that run the workloads, under grants of other workloads, and under none. */
const LINES: readonly Forged[] = [0, 1].flatMap((index) => {
  const batch = (change: (all: About) => object) => (all: About) => ({
    batches: [{ ...all.logs[index], lines: [{ seq: MAX, at: 0, source: 'system', line: 'forged' }], ...change(all) }],
  })
  const access = (change: (all: About) => object) => batch((all) => ({ access: { ...all.logs[index]?.access, ...change(all) } }))
  return [
    batch(() => ({})),
    batch((all) => ({ workloadId: `${all.pod}-2` })),
    batch((all) => ({ access: all.logs[1 - index]?.access })),
    access(() => ({ grant: 'none' })),
    access(() => ({ kind: index === 0 ? 'worker' : 'pod' })),
    access((all) => ({ ownerId: all.cluster })),
  ]
})

const exchange = (change: (all: About) => object) => (all: About) => ({
  kinds: ['network', 'global'],
  since: null,
  wiped: [],
  used: [],
  held: [],
  ...change(all),
})
const use = (all: About, bytes: number, enforced: boolean) => [
  { kind: 'network', id: all.network, bytes, enforced },
  { kind: 'global', id: all.global, bytes, enforced },
  ...all.deleted.map((ref) => ({ ...ref, bytes, enforced })),
]
const refs = ({ network, global, deleted }: About) => [{ kind: 'network', id: network }, { kind: 'global', id: global }, ...deleted]
const other = (kind: string) => (kind === 'network' ? 'global' : 'network')
const VOLUMES: readonly Forged[] = [
  ...[0, 1, MAX].flatMap((bytes) => [true, false].map((enforced) => exchange((all) => ({ used: use(all, bytes, enforced) })))),
  exchange((all) => ({ used: use(all, 1, true).map(({ kind, ...rest }) => ({ ...rest, kind: other(kind) })) })),
  exchange((all) => ({ wiped: refs(all) })),
  exchange((all) => ({ wiped: refs(all).map(({ kind, id }) => ({ kind: other(kind), id })) })),
  exchange((all) => ({ wiped: refs(all), used: use(all, MAX, true), held: refs(all).map(({ id }) => id), since: 0 })),
  exchange((all) => ({ held: refs(all).map(({ id }) => id), since: MAX })),
]

const reach = (change: (all: About) => object) => (all: About) => ({
  reports: [{ overlayId: all.overlay, check: all.check, ready: [], gaps: [], ...change(all) }],
})
const gap = ([from = '', to = '']: string[]) => ({ from, to, reason: 'forged' })
const REACH: readonly Forged[] = [
  reach((all) => ({ ready: all.members })),
  reach((all) => ({ ready: all.members, check: all.check + 1 })),
  reach((all) => ({ ready: all.members, check: MAX })),
  reach((all) => ({ gaps: [gap(all.members), gap(all.members.toReversed())] })),
  reach((all) => ({ ready: [...all.members, all.pod], gaps: [gap([all.pod, ...all.members])] })),
  reach((all) => ({ overlayId: all.cluster, ready: all.members })),
]

describe('a host changes nothing of workloads of other hosts', () => {
  const many = (messages: readonly unknown[], what: string) => `${messages.length} ${what}`

  it(`[AUT-21] with ${many(EVENTS, 'requests of reports: each state, a year ago, now and in a year, with low and high numbers')}`, async () => {
    expect(new Set((await answers(EVENTS, post('events'))).map(([status]) => status))).toEqual(new Set([200]))
  })

  it(`[AUT-21] with ${many(MALFORMED, 'requests of reports that are malformed, which are refused as a whole')}`, async () => {
    const forged = MALFORMED.map((change) => (all: About) => ({ reports: [said(`${all.pod}-1`), said(`${all.pod}-1`, change)] }))
    expect(await answers(forged, post('events'))).toEqual(MALFORMED.map(() => [422, null]))
  })

  it(`[AUT-21] with ${many(HELLOS, 'hellos that say they have it')}`, async () => {
    expect(await answers(HELLOS, (message) => forger.say(message))).toEqual(HELLOS.map(() => 'desired'))
  })

  it(`[AUT-21] with ${many(BEATS, 'beats')}, nor with ${many(OUT_OF_RANGE, 'whose figures are out of range, which end its link')}`, async () => {
    const ended = OUT_OF_RANGE.map(() => 4002)
    expect(await answers([...BEATS, ...OUT_OF_RANGE], (message) => forger.say(message))).toEqual([...BEATS.map(() => 'beatAck'), ...ended])
  })

  it(`[HOST-10] with ${many(LINES, 'batches of lines, some under the grant of the host that runs it')}`, async () => {
    const refused = { results: [{ workloadId: expect.any(String), refused: 'this workload is not assigned to this host' }] }
    expect(await answers(LINES, post('logs'))).toEqual(LINES.map(() => [200, refused]))
  })

  it(`[EDG-1, EDG-2] with ${many(VOLUMES, 'exchanges about its volumes, and receives nothing of them')}`, async () => {
    const nothing = { nowMs: expect.any(Number), wipe: [], sizes: [] }
    expect(await answers(VOLUMES, post('volumes'))).toEqual(VOLUMES.map(() => [200, nothing]))
  })

  it(`[NET-47] with ${many(REACH, 'answers about which members reach one another')}`, async () => {
    expect(await answers(REACH, post('overlays'))).toEqual(REACH.map(() => [200, {}]))
  })

  it('[AUT-21] but with the same messages of their own hosts each of them changes', async () => {
    const now = async () => (await everything()) as [unknown[], ...unknown[]]
    const before = await now()
    for (const id of [`${about.pod}-1`, about.worker]) {
      const hostId = await hostOf(id === about.worker ? id : about.pod)
      await hostStub(env, hostId).report(hostId, [{ ...said(id, { state: 'exited' }), state: 'exited' }])
    }
    await cluster.reach(about.cluster)
    const changed = (await now())[0].map((one, index) => JSON.stringify(one) !== JSON.stringify(before[0][index]))
    expect(changed.slice(0, 3)).toEqual([true, true, true])
  })
})
