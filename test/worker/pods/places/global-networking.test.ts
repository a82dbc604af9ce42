import { type Account, afterEach, api, createAccount, describe, env, expect, it } from '../../../support/harness.ts'
import { FakeHost } from '../../../support/hosts/fake-host.ts'
import { gpus } from '../../../support/hosts/gpus.ts'
import { PODS, podBody } from '../../../support/pods/pod-scene.ts'
import { until } from '../../../support/time.ts'

const hosts: FakeHost[] = []
afterEach(() => {
  for (const host of hosts.splice(0)) host.leave()
})

async function join(dataCenterId: string, address: string | null): Promise<FakeHost> {
  const overlay = { address, reason: address === null ? 'no VXLAN' : null, encryption: 'none' as const }
  const host = await FakeHost.join({ ...gpus(4), overlay }, { dataCenterId })
  hosts.push(host)
  return host
}

const dataCenter = () => `DC-${crypto.randomUUID().slice(0, 8)}`

async function create(account: Account, dataCenterId: string, changes: Record<string, unknown> = {}) {
  const body = podBody({ dataCenterIds: [dataCenterId], globalNetworking: true, ...changes })
  return await api(account.key).post(PODS, { ...body, name: `p-${crypto.randomUUID().slice(0, 8)}` })
}

describe('global networking', () => {
  it('[NET-3] [NET-48] pods of one account in two data centers have addresses in one network, and both hosts know both', async () => {
    const [east, west] = [dataCenter(), dataCenter()]
    const [one, two] = [await join(east, '192.0.2.1'), await join(west, '192.0.2.2')]
    const account = await createAccount()
    const [first, second] = [(await create(account, east)).body, (await create(account, west)).body]
    const range = first.globalNetworking.ip.replace(/\.2$/, '')
    expect([first, second].map(({ globalNetworking }) => globalNetworking)).toEqual([
      { enabled: true, ip: `${range}.2`, internalDns: `${first.id}.podplane.internal` },
      { enabled: true, ip: `${range}.3`, internalDns: `${second.id}.podplane.internal` },
    ])
    await until(() => [one, two].every(({ overlays }) => overlays[0]?.members.length === 2))
    const received = [first, second].map(({ id, globalNetworking }, index) => {
      return { podId: id, address: globalNetworking.ip, hostAddress: `192.0.2.${index + 1}`, names: [globalNetworking.internalDns] }
    })
    const members = received.toSorted((a, b) => (a.podId < b.podId ? -1 : 1))
    for (const host of [one, two])
      expect(host.overlays).toEqual([
        { id: expect.any(String), vni: expect.any(Number), cidr: `${range}.0/22`, domain: 'podplane.internal', members },
      ])
    const [workload] = one.desired()
    expect(workload?.overlays).toEqual([{ id: one.overlays[0]?.id, address: `${range}.2`, interface: 'ens9' }])
  })

  it('[NET-48] another account has another network, and an address is free again when its pod has ended', async () => {
    const at = dataCenter()
    const host = await join(at, '192.0.2.1')
    const [ada, bob] = [await createAccount(), await createAccount()]
    const [mine, other] = [(await create(ada, at)).body, (await create(bob, at)).body]
    expect(new Set(host.overlays.map(({ vni }) => vni)).size).toBe(2)
    const rangeOf = (ip: string) => ip.split('.').slice(0, 3).join('.')
    expect(rangeOf(mine.globalNetworking.ip)).not.toBe(rangeOf(other.globalNetworking.ip))
    await api(ada.key).post(`${PODS}/${mine.id}/action`, { action: 'terminate' })
    await until(() => host.overlays.length === 1)
    expect((await create(ada, at)).body.globalNetworking.ip).toBe(mine.globalNetworking.ip)
  })

  it('[NET-48] simultaneously created pods have different addresses', async () => {
    const at = dataCenter()
    await join(at, '192.0.2.1')
    const account = await createAccount()
    const replies = await Promise.all([1, 2, 3, 4].map(() => create(account, at)))
    expect(replies.map(({ status }) => status)).toEqual([201, 201, 201, 201])
    expect(new Set(replies.map(({ body }) => body.globalNetworking.ip)).size).toBe(4)
  })

  it('[POD-47] a host without private networks takes no such pod, and the refusal names the reason', async () => {
    const at = dataCenter()
    await join(at, null)
    const account = await createAccount()
    const refused = await create(account, at)
    expect(refused.status).toBe(400)
    const preview = await api(account.key).post(`${PODS}?dryRun=true`, podBody({ dataCenterIds: [at], globalNetworking: true }))
    expect(preview.body.hosts.map(({ failed }: { failed: string[] }) => failed)).toContainEqual([
      'needs a host with the private network between hosts',
    ])
    const rows = await env.DB.prepare('SELECT COUNT(*) AS count FROM pods WHERE data_center_id = ?').bind(at).first()
    expect(rows).toEqual({ count: 0 })
  })

  it('[NET-49] is turned on and off by a PATCH, each time in a new container', async () => {
    const at = dataCenter()
    const host = await join(at, '192.0.2.1')
    const account = await createAccount()
    const { id, globalNetworking } = (await create(account, at, { globalNetworking: false })).body
    expect(globalNetworking).toEqual({ enabled: false })
    await host.waitFor((workload) => workload.id === `${id}-1`)
    const on = await api(account.key).patch(`${PODS}/${id}`, { globalNetworking: true })
    expect(on.body.globalNetworking).toEqual({
      enabled: true,
      ip: expect.stringMatching(/^10\.\d+\.\d+\.2$/),
      internalDns: `${id}.podplane.internal`,
    })
    const started = await host.waitFor((workload) => workload.id === `${id}-2`)
    expect(started.overlays).toEqual([{ id: expect.any(String), address: on.body.globalNetworking.ip, interface: 'ens9' }])
    const off = await api(account.key).patch(`${PODS}/${id}`, { globalNetworking: false })
    expect(off.body.globalNetworking).toEqual({ enabled: false })
    expect((await host.waitFor((workload) => workload.id === `${id}-3`)).overlays).toBeUndefined()
    await until(() => host.overlays.length === 0)
  })

  it('[NET-61] a compromised host that claims the address of another gets nothing of a network that it is not in', async () => {
    const [at, there, evil] = [dataCenter(), dataCenter(), dataCenter()]
    const [machine, victim, thief] = [await join(at, '198.51.100.1'), await join(there, '198.51.100.2'), await join(evil, '198.51.100.3')]
    const [ada, mallory] = [await createAccount(), await createAccount()]
    for (const dataCenterId of [at, there]) await create(ada, dataCenterId)
    for (const dataCenterId of [at, evil]) await create(mallory, dataCenterId)
    const seen = () =>
      machine.overlays.flatMap(({ members, hosts = [] }) => [members.map(({ hostAddress }) => hostAddress).toSorted(), hosts])
    await until(() => machine.overlays.length === 2 && machine.overlays.every(({ members }) => members.length === 2))
    const key = `${'A'.repeat(43)}=`
    const lie = { address: '198.51.100.2', reason: null, encryption: 'wireguard' as const, publicKey: key }
    await thief.greetAgain({ overlay: lie })
    await until(() => JSON.stringify(seen()).includes('null'))
    expect(seen()).toEqual(
      expect.arrayContaining([
        ['198.51.100.1', '198.51.100.2'],
        ['198.51.100.1', null],
      ]),
    )
    expect(JSON.stringify(machine.overlays)).not.toContain(key)
    expect(JSON.stringify(victim.overlays)).not.toContain(key)
  })
})
