import { afterEach, describe, expect, test, vi } from 'vitest'
import { silentLog } from '../../../src/host-agent/log.ts'
import { AccountNetworks } from '../../../src/host-agent/network/account-networks.ts'
import { HostNetwork, type HostNetworkDeps } from '../../../src/host-agent/network/host-network.ts'
import { StartError } from '../../../src/host-agent/runtime.ts'
import { FakeNetworks } from '../support/fake-networks.ts'
import { FakeNft } from '../support/fake-nft.ts'
import { tempDir } from '../support/temp-dir.ts'

afterEach(() => void vi.useRealTimers())

const RELAY = { address: '172.17.0.1', port: 4_000 }

describe('[HOST-81] the networks of accounts', () => {
  function open(random = () => 0) {
    const fake = new FakeNetworks()
    const networks = new AccountNetworks({ key: 'abcde', engine: fake.engine, log: silentLog(), routes: () => [], random })
    return { fake, networks, subnets: () => [...fake.networks.values()].map(({ subnet }) => subnet) }
  }

  test('are one per account, also for two concurrent starts, and do not overlap', async () => {
    const { fake, networks, subnets } = open()
    const [first, again, other] = await Promise.all([
      networks.provide('ada'),
      networks.provide('ada'),
      networks.provide('bob').catch(String),
    ])
    expect(again).toBe(first)
    expect(other).not.toBe(first)
    expect(fake.networks.get(first)?.labels).toEqual({ 'podplane.network': 'abcde', 'podplane.account': 'ada' })
    await networks.provide('cyd')
    expect(subnets()).toContain('10.192.1.0/24')
  })

  test('skip ranges that the engine reports as taken; any other refusal is final', async () => {
    const { fake, networks, subnets } = open()
    fake.refuse = ({ subnet }) => (subnet === '10.192.0.0/24' ? new Error('Pool overlaps with other one on this address space') : undefined)
    await networks.provide('ada')
    expect(subnets()).toEqual(['10.192.1.0/24'])
    fake.refuse = () => new Error('no space left on device')
    await expect(networks.provide('bob')).rejects.toThrow('no space left on device')
  })

  test('stay while a start needs them and while a container runs, and are removed then', async () => {
    const { fake, networks } = open()
    const name = await networks.hold('ada', async () => {
      const made = await networks.provide('ada')
      expect(await networks.tidy()).toBe(1)
      return made
    })
    fake.used.add(name)
    expect(await networks.tidy()).toBe(1)
    fake.used.delete(name)
    expect([await networks.tidy(), fake.networks.size]).toEqual([0, 0])
  })
})

test('[HOST-171] a start that comes while the network of its account is removed gets another one', async () => {
  const fake = new FakeNetworks()
  const [removing, removed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const remove = fake.removeNetwork.bind(fake)
  fake.removeNetwork = async (name) => {
    removing.resolve()
    await removed.promise
    return await remove(name)
  }
  const networks = new AccountNetworks({ key: 'abcde', engine: fake.engine, log: silentLog(), routes: () => [] })
  await networks.provide('ada')
  const tidying = networks.tidy()
  await removing.promise
  await networks.hold('ada', async () => {
    const provided = networks.provide('ada')
    removed.resolve()
    expect(fake.networks.has(await provided)).toBe(true)
    expect(await tidying).toBe(0)
    expect(fake.networks.size).toBe(1)
  })
})

describe('[HOST-84] a host', () => {
  async function open(change: Partial<HostNetworkDeps> = {}, trustedTenants = false) {
    const [fake, nft] = [new FakeNetworks(), new FakeNft()]
    const options = {
      stateDir: tempDir('network'),
      allowNetworks: [],
      trustedTenants,
      publicIp: null,
      portRange: { from: 30_000, to: 30_001 },
    }
    const deps = { options, engine: fake.engine, log: silentLog(), nft, hasInterface: () => true, ...change }
    return { fake, nft, host: async () => await HostNetwork.open(deps) }
  }

  test('that can set rules and makes its networks itself isolates accounts, and its probe leaves no trace', async () => {
    const { fake, nft, host } = await open()
    expect((await host()).isolation).toEqual({ network: true, networkReason: null, trustedTenants: false })
    expect([fake.networks.size, nft.tables.size]).toEqual([0, 0])
  })

  test('without the right to set rules reports that, and continues without isolation', async () => {
    const { nft, host } = await open({}, true)
    nft.failure = new Error('Operation not permitted')
    const network = await host()
    expect(network.isolation).toEqual({
      network: false,
      networkReason: 'nft: Operation not permitted; the agent needs the program nft, and root',
      trustedTenants: true,
    })
    await network.start(RELAY)
    expect(await network.within('ada', async (name) => name)).toMatch(/^podplane-/)
    await network.close()
  })

  test('reports an engine that makes networks elsewhere', async () => {
    const { host } = await open({ hasInterface: () => false })
    expect((await host()).isolation).toMatchObject({
      network: false,
      networkReason: expect.stringMatching(/^the container engine creates its networks elsewhere/),
    })
  })

  test('reports an engine that makes no networks, and uses the existing one', async () => {
    const { fake, host } = await open()
    fake.refuse = () => new Error('not supported')
    const network = await host()
    expect(network.isolation).toMatchObject({ network: false, networkReason: 'the container engine cannot create networks: not supported' })
    expect(await network.within('ada', async (name) => name)).toBe('bridge')
  })

  test('[HOST-110] does not isolate accounts while older containers are on the shared network, and reports it once they are gone', async () => {
    const { fake, host } = await open({ hostId: 'h1' })
    fake.containers.set('old', { status: 'running', networks: ['bridge'] })
    // An ended container, and one in the network of an account.
    fake.containers.set('ended', { status: 'exited', networks: ['bridge'] })
    fake.containers.set('new', { status: 'running', networks: ['podplane-abcde-ada'] })
    vi.useFakeTimers()
    const network = await host()
    const received: unknown[] = []
    network.onIsolationChange = () => received.push(network.isolation.network)
    expect(network.isolation).toEqual({
      network: false,
      networkReason: "1 earlier containers are on the container engine's own network until they end or restart",
      trustedTenants: false,
    })
    await network.start(RELAY)
    await vi.advanceTimersByTimeAsync(20_000)
    expect([network.isolation.network, received]).toEqual([false, []])
    fake.containers.delete('old')
    await vi.advanceTimersByTimeAsync(10_000)
    expect([network.isolation, received]).toEqual([{ network: true, networkReason: null, trustedTenants: false }, [true]])
    await network.close()
  })

  test('[HOST-110] claims no isolation while it cannot list the containers', async () => {
    const { fake, host } = await open({ hostId: 'h1' })
    fake.unlisted = new Error('no answer')
    expect((await host()).isolation).toMatchObject({ network: false, networkReason: expect.stringContaining('it is not known') })
  })

  test('[HOST-82] starts nothing while its rules cannot be set, and removes them with the last network', async () => {
    const { fake, nft, host } = await open()
    const network = await host()
    await network.start(RELAY)
    nft.failure = new Error('Resource busy')
    const started: string[] = []
    const start = () => network.within('ada', async (name) => void started.push(name))
    await expect(start()).rejects.toThrow(new StartError('this host could not give the container a network of its own'))
    expect([started, fake.networks.size]).toEqual([[], 0])
    nft.failure = undefined
    await start()
    fake.used.add(started[0] ?? '')
    await network.close()
    expect([fake.networks.size, nft.tables.size]).toEqual([1, 1])
    fake.used.clear()
    await network.close()
    expect([fake.networks.size, nft.tables.size]).toEqual([0, 0])
  })
})
