import { decode } from 'dns-packet'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Workload } from '../../../src/host-protocol/messages.ts'
import type { Overlay, OverlayInventory } from '../../../src/host-protocol/overlays.ts'
import { waitUntil } from '../../support/time.ts'
import { IDLE, PodAgent } from '../support/agent/pod-agent.ts'
import { busyboxImage } from '../support/agent/worker-image.ts'
import { MachineRow, type NameQuestion, type RowMachine, UPLINK } from '../support/machines/machine-row.ts'
import type { Cell } from '../support/machines/network-machine.ts'

// Private networks across three machines, each with an engine and an agent of its own. The plane is played.

/** Where everything listens. */
const PORT = 7_000
/** The text that the probe sends over UDP. */
const SECRET = 'hello'

/** The domain of member names. */
const DOMAIN = 'podplane.internal'
/** The engine's name server in each container, and the one that a container queries first. */
const ENGINE_NAMES = '127.0.0.11'
const OWN_NAMES = '169.254.53.53'
const [A, PTR, AAAA] = [1, 12, 28]

const row = new MachineRow()
let agents: PodAgent[] = []

beforeAll(async () => {
  await row.start(3)
  const image = await busyboxImage()
  await Promise.all(row.machines.map(({ engine }) => engine.load(image)))
  agents = await Promise.all(row.machines.map((machine) => startAgent(machine, image)))
})

afterAll(async () => {
  for (const agent of agents) await agent.close()
  await row.close()
})

async function startAgent(machine: RowMachine, image: string): Promise<PodAgent> {
  const agent = new PodAgent(image)
  agent.within = machine.inside
  await row.bring(await agent.listen(), machine)
  await agent.start([], { DOCKER_HOST: machine.engine.address })
  return agent
}

/** A network with one member on each machine, or as many as `machines` names. */
function overlayOf(id: string, number: number, machines: readonly number[], check?: number): Overlay {
  const members = machines.map((at, rank) => {
    const hostAddress = row.machines[at]?.address ?? null
    return { podId: `${id}-${rank}`, address: `10.64.${number}.${rank + 2}`, hostAddress, names: [`node-${rank}`] }
  })
  return { id, vni: 0x10_0000 + number, cidr: `10.64.${number}.0/24`, domain: DOMAIN, members, ...(check === undefined ? {} : { check }) }
}

/** The name of a container in its overlay, and the machine on which it runs. */
interface Member {
  at: number
  generation: number
  overlay: Overlay
  account: string
}

const placeOf = ({ overlay, at }: Member) => {
  const address = overlay.members.find(({ hostAddress }) => hostAddress === row.machines[at]?.address)?.address ?? ''
  return { id: overlay.id, address, interface: 'ens1' }
}

/** Sends every machine its desired workloads and networks. */
function setDesired(overlays: readonly Overlay[], members: readonly Member[], change: Partial<Workload> = {}): void {
  for (const [at, agent] of agents.entries()) {
    const own = members.filter((member) => member.at === at)
    const ids = new Set(own.map(({ overlay }) => overlay.id))
    agent.plane.overlays = overlays.filter(({ id }) => ids.has(id))
    agent.plane.setDesired(
      ...own.map((member) => agent.workload(member.generation, IDLE, { account: member.account, overlays: [placeOf(member)], ...change })),
    )
  }
}

const machineOf = ({ at }: Member) => row.machines[at] as RowMachine
const agentOf = ({ at }: Member) => agents[at] as PodAgent

async function inside(member: Member, ...command: string[]): Promise<string> {
  return await machineOf(member).engine.docker('exec', agentOf(member).container(member.generation), '/bin/busybox', ...command)
}

/** The address under which a member reaches another one by its name, or `nobody` when it does not. */
async function reachesByName(member: Member, name: string): Promise<string> {
  const hosts = await inside(member, 'cat', '/etc/hosts')
  const address = hosts
    .split('\n')
    .find((line) => line.split(/\s+/).slice(1).includes(name))
    ?.split(/\s+/)[0]
  if (address === undefined) return 'nobody'
  const text = await inside(member, 'sh', '-c', `busybox nc -w 2 ${name} ${PORT} </dev/null || true`)
  return text === 'here' ? address : 'nobody'
}

/** The parsed answers to name queries. */
async function namesFor(member: Member, questions: readonly NameQuestion[]): Promise<ReturnType<typeof readAnswer>[]> {
  return (await row.askNames(await pidOf(member), questions)).map(readAnswer)
}

function readAnswer(message: Buffer | null) {
  if (message === null) return { rcode: 'none', data: [] }
  const { answers, flags } = decode(message)
  const rcode = ['NOERROR', 'FORMERR', 'SERVFAIL', 'NXDOMAIN', 'NOTIMP', 'REFUSED'][(flags ?? 0) & 15]
  return { rcode, data: (answers ?? []).map((answer) => ('data' in answer ? answer.data : null)) }
}

async function pidOf(member: Member): Promise<string> {
  return await machineOf(member).engine.docker('inspect', '--format', '{{.State.Pid}}', agentOf(member).container(member.generation))
}

/** The remains of private networks on a machine. */
async function traces(machine: RowMachine): Promise<string[]> {
  const links = await row.run(machine, 'ip', '-o', 'link', 'show')
  const tables = await row.run(machine, 'nft', 'list', 'tables')
  const containers = await machine.engine.docker('ps', '--all', '--format', '{{.Names}}')
  return [
    ...[...links.matchAll(/p[xvw]-\w+/g)].map(([name]) => name),
    ...[...tables.matchAll(/netdev \S+|\S+-overlays/g)].map(([name]) => name),
    ...containers.split('\n').filter((name) => name.endsWith('.net')),
  ]
}

const ADA = [0, 1, 2].map((at) => ({ at, generation: 1, account: 'ada' }))
const BOB = [0, 1].map((at) => ({ at, generation: 2, account: 'bob' }))
/** Both networks have the same names, and each has its own addresses. */
let red: Overlay
let blue: Overlay
let reds: Member[]
let blues: Member[]
/** The member that joins the blue network later. */
let third: Member

beforeAll(() => {
  red = overlayOf('red', 1, [0, 1, 2], 1)
  blue = overlayOf('blue', 2, [0, 1])
  reds = ADA.map((member) => ({ ...member, overlay: red }))
  blues = BOB.map((member) => ({ ...member, overlay: blue }))
  third = { at: 2, generation: 2, account: 'bob', overlay: overlayOf('blue', 2, [0, 1, 2]) }
})

test('[HOST-145] [NET-45] members wait until all of them reach one another, and the report names a blocked path between two hosts', async () => {
  const [first, second] = row.machines as [RowMachine, RowMachine]
  const hook = 'type filter hook input priority -50; policy accept;'
  const rule = `udp dport 4789 ip saddr ${first.address} drop`
  await row.run(second, 'nft', `table inet wall { chain in { ${hook} ${rule}\n }\n }`)
  setDesired([red], reds, { prepare: true })
  const last = (at: number) => agents[at]?.plane.overlayReports.at(-1)
  await waitUntil('the first is told of the wall', () => (last(0)?.gaps.length ?? 0) > 0, 60_000).catch((error: Error) => {
    throw new Error(`${error.message}\n${agents.map(({ log }) => log).join('\n')}`)
  })
  const cause = `check that firewalls allow UDP 4789 between ${first.address} and ${second.address} in both directions`
  const reason = `node-1 on host ${second.address} does not answer node-0 on host ${first.address} over the private network: ${cause}`
  expect(last(0)).toEqual({ overlayId: 'red', check: 1, ready: [], gaps: [{ from: 'red-0', to: 'red-1', reason }] })
  expect(last(2)).toEqual({ overlayId: 'red', check: 1, ready: ['red-2'], gaps: [] })
  expect(agents.map((agent) => agent.plane.states(agent.id(1)).includes('running'))).toEqual([false, false, false])

  await row.run(second, 'nft', 'delete table inet wall')
  for (const at of [0, 1, 2]) await waitUntil('all are ready', () => last(at)?.ready[0] === `red-${at}`, 30_000)
  expect([0, 1, 2].map(last)).toEqual([0, 1, 2].map((at) => ({ overlayId: 'red', check: 1, ready: [`red-${at}`], gaps: [] })))
  setDesired([red, blue], [...reds, ...blues])
  for (const agent of agents) await agent.reaches(1, 'running')
  for (const member of blues) await agentOf(member).reaches(2, 'running')
  for (const member of [...reds, ...blues]) await listens(await pidOf(member))
})

test('[HOST-141] [NET-44] members on three machines reach one another by name, over an interface that exists from the start', async () => {
  for (const member of reds) {
    expect(await Promise.all(['node-0', 'node-1', 'node-2'].map((name) => reachesByName(member, name)))).toEqual([
      '10.64.1.2',
      '10.64.1.3',
      '10.64.1.4',
    ])
    expect(await inside(member, 'hostname')).toBe(`node-${member.at}`)
    // The overhead of a tunnel fits into the MTU of the machines' own network.
    expect(await inside(member, 'cat', '/sys/class/net/ens1/mtu')).toBe('1450')
  }
  const [first] = reds as [Member]
  expect(await row.ask(await pidOf(first), { next: ['whole', '10.64.1.3', PORT], last: ['whole', '10.64.1.4', PORT] })).toEqual({
    next: true,
    last: true,
  })
  expect(await sniffBetween(first, '10.64.1.3')).toEqual({ ports: [4_789], seen: true })
})

test('[NET-70] member names resolve over UDP and TCP, and below the search domain', async () => {
  const [first] = reds as [Member]
  const name = `node-1.${DOMAIN}`
  const answers = await namesFor(
    first,
    (['udp', 'tcp'] as const).flatMap((kind) => [
      [kind, ENGINE_NAMES, name, A],
      [kind, ENGINE_NAMES, name, AAAA],
      [kind, OWN_NAMES, 'Node-2', A],
    ]),
  )
  const each = [
    { rcode: 'NOERROR', data: ['10.64.1.3'] },
    { rcode: 'NOERROR', data: [] },
    { rcode: 'NOERROR', data: ['10.64.1.4'] },
  ]
  expect(answers).toEqual([...each, ...each])
  expect(await inside(first, 'cat', '/etc/resolv.conf')).toMatch(/^search podplane\.internal\b/m)
  // /etc/hosts does not have it below the domain.
  expect(await inside(first, 'nslookup', 'node-2')).toMatch(/node-2\.podplane\.internal[\s\S]*10\.64\.1\.4/)
})

test('[NET-71] [NET-72] a name of another account is answered like an unknown name, and names outside the domain are refused', async () => {
  const [blueFirst] = blues as [Member]
  // The red network has a third member; no network has a tenth.
  const [foreign, unknown] = await row.askNames(await pidOf(blueFirst), [
    ['udp', ENGINE_NAMES, `node-2.${DOMAIN}`, A],
    ['udp', ENGINE_NAMES, `node-9.${DOMAIN}`, A],
  ])
  expect(foreign?.toString('latin1').replace('node-2', 'node-9')).toBe(unknown?.toString('latin1'))
  const absent = { rcode: 'NXDOMAIN', data: [] }
  const refused = { rcode: 'REFUSED', data: [] }
  expect(
    await namesFor(blueFirst, [
      ['udp', ENGINE_NAMES, `node-2.${DOMAIN}`, A],
      ['tcp', ENGINE_NAMES, `node-2.${DOMAIN}`, AAAA],
      ['udp', ENGINE_NAMES, '4.1.64.10.in-addr.arpa', PTR],
      ['udp', ENGINE_NAMES, '1.0.88.10.in-addr.arpa', PTR],
      ['udp', OWN_NAMES, 'example.org', A],
      ['tcp', OWN_NAMES, 'example.org', A],
    ]),
  ).toEqual([absent, absent, absent, absent, refused, refused])
})

test('[NET-73] queries above the rate of a container are dropped, and other containers are answered meanwhile', async () => {
  const [first, blueFirst] = [reds[0] as Member, blues[0] as Member]
  const count = 4_000
  const hurried = row.hurryNames(await pidOf(first), OWN_NAMES, 'node-1', count)
  const asked = await namesFor(blueFirst, [['udp', OWN_NAMES, 'node-1', A]])
  const answered = await hurried
  expect(asked).toEqual([{ rcode: 'NOERROR', data: ['10.64.2.3'] }])
  // At most 200 at once, and some more while the rest are sent. On a busy machine the sender itself misses answers.
  expect(answered).toBeGreaterThan(50)
  expect(answered).toBeLessThan(1_500)
  await waitUntil(
    'it may ask again',
    async () => (await namesFor(first, [['udp', OWN_NAMES, 'node-1', A]]))[0]?.rcode === 'NOERROR',
    20_000,
  )
})

test('[HOST-142] only members of one network reach one another', async () => {
  const [from, blueFrom] = [reds[0] as Member, blues[0] as Member]
  for (const machine of row.machines) await machineListens(machine)
  const cells = (open: readonly string[], shut: readonly string[]) => {
    const named = (address: string): [string, Cell][] =>
      (['tcp', 'icmp'] as const).map((kind) => [`${kind} ${address}`, [kind, address, PORT]])
    return { open: Object.fromEntries(open.flatMap(named)), shut: Object.fromEntries(shut.flatMap(named)) }
  }
  const machines = row.machines.map(({ address }) => address)
  const views = [
    { self: from, ...cells(['10.64.1.3', '10.64.1.4'], ['10.64.1.1', '10.64.2.2', '10.64.2.3', '10.64.1.77', ...machines]) },
    { self: blueFrom, ...cells(['10.64.2.3'], ['10.64.2.1', '10.64.1.2', '10.64.1.3', '10.64.1.4', ...machines]) },
  ]
  for (const { self, open, shut } of views) {
    const answers = await row.ask(await pidOf(self), { ...open, ...shut })
    expect(answers).toEqual({ ...same(open, true), ...same(shut, false) })
  }
  // The machine itself has no access.
  const own = cells([], ['10.64.1.2', '10.64.1.3', '10.64.2.2', '10.64.2.3']).shut
  expect(await row.ask('self', own, from.at)).toEqual(same(own, false))
})

test('[HOST-142] packets with a forged source address do not arrive', async () => {
  const [from, to] = [reds[0] as Member, reds[1] as Member]
  const pid = await pidOf(from)
  const cell = { there: ['tcp', '10.64.1.3', PORT] as Cell }
  const within = (...command: string[]) => row.run(machineOf(from), 'nsenter', `--net=/proc/${pid}/ns/net`, ...command)
  await within('ip', 'addr', 'replace', '10.64.1.4/24', 'dev', 'ens1')
  await within('ip', 'route', 'replace', '10.64.1.3/32', 'dev', 'ens1', 'src', '10.64.1.4')
  expect(await row.ask(pid, cell)).toEqual({ there: false })
  await within('ip', 'route', 'del', '10.64.1.3/32', 'dev', 'ens1')
  await within('ip', 'addr', 'del', '10.64.1.4/24', 'dev', 'ens1')
  expect(await row.ask(pid, cell)).toEqual({ there: true })
  expect(await reachesByName(to, 'node-0')).toBe('10.64.1.2')
})

test('[HOST-142] a host outside a network sends nothing into it', async () => {
  const third = row.machines[2] as RowMachine
  const [first] = blues as [Member]
  await row.run(
    third,
    'ip',
    'link',
    'add',
    'forged',
    'type',
    'vxlan',
    'id',
    String(blue.vni),
    'dstport',
    '4789',
    'remote',
    machineOf(first).address,
  )
  await row.run(third, 'ip', 'addr', 'add', '10.64.2.3/24', 'dev', 'forged')
  await row.run(third, 'ip', 'link', 'set', 'forged', 'address', '0a:58:0a:40:02:03', 'up')
  await row.run(third, 'ip', 'neigh', 'replace', '10.64.2.2', 'lladdr', '0a:58:0a:40:02:02', 'dev', 'forged', 'nud', 'permanent')
  const received = async () => Number(await inside(first, 'cat', '/sys/class/net/ens1/statistics/rx_packets'))
  const before = await received()
  expect(await row.ask('self', { member: ['icmp', '10.64.2.2', 0] }, 2)).toEqual({ member: false })
  expect(await received()).toBe(before)
  await row.run(third, 'ip', 'link', 'delete', 'forged')
})

test('[HOST-143] a new member gets a name and an address at the others without a restart, and a removed one loses them', async () => {
  const [first] = blues as [Member]
  const before = await inside(first, 'cat', '/proc/1/stat')
  setDesired([red, third.overlay], [...reds, ...blues, third])
  await agentOf(third).reaches(2, 'running')
  await listens(await pidOf(third))
  await waitUntil('the first reaches the third', async () => (await reachesByName(first, 'node-2')) === '10.64.2.4', 20_000)
  expect(await reachesByName(third, 'node-0')).toBe('10.64.2.2')
  const name: NameQuestion = ['udp', ENGINE_NAMES, `node-2.${DOMAIN}`, A]
  expect(await namesFor(first, [name])).toEqual([{ rcode: 'NOERROR', data: ['10.64.2.4'] }])
  expect((await inside(first, 'cat', '/proc/1/stat')).split(' ')[21]).toBe(before.split(' ')[21])
  setDesired([red, blue], [...reds, ...blues])
  await waitUntil('the name has gone', async () => (await reachesByName(first, 'node-2')) === 'nobody', 20_000)
  expect(await namesFor(first, [name])).toEqual([{ rcode: 'NXDOMAIN', data: [] }])
})

test('[HOST-143] an agent that restarts changes nothing, and restores what was removed by hand', async () => {
  const [first, second] = reds as [Member, Member]
  const agent = agentOf(first)
  await agent.end('SIGKILL')
  const tunnels = await row.run(machineOf(first), 'ip', '-o', 'link', 'show', 'type', 'vxlan')
  expect(await reachesByName(second, 'node-0')).toBe('10.64.1.2')
  await agent.start([], { DOCKER_HOST: machineOf(first).engine.address })
  await waitUntil('it is linked again', () => agent.log.split('linked to the plane').length > 2, 30_000)
  expect(await reachesByName(second, 'node-0')).toBe('10.64.1.2')
  expect(await row.run(machineOf(first), 'ip', '-o', 'link', 'show', 'type', 'vxlan')).toBe(tunnels)

  const question: NameQuestion = ['tcp', OWN_NAMES, `node-1.${DOMAIN}`, A]
  const isAnswered = async () => (await namesFor(first, [question]))[0]?.data[0] === '10.64.1.3'
  await waitUntil('names are answered again', isAnswered, 20_000)

  const name = /px-\w+/.exec(tunnels)?.[0] ?? ''
  await row.run(machineOf(first), 'ip', 'link', 'delete', name)
  const tables = await row.run(machineOf(first), 'nft', 'list', 'tables')
  for (const [table] of tables.matchAll(/netdev \S+|inet \S+-overlays/g)) await row.run(machineOf(first), 'nft', `delete table ${table}`)
  const isWell = async () => {
    const reached = [await reachesByName(second, 'node-0'), await reachesByName(blues[1] as Member, 'node-0')]
    return reached.join() === '10.64.1.2,10.64.2.2'
  }
  await waitUntil('it is mended', isWell, 30_000)
})

test('[HOST-144] the remains of a network on a machine are removed with its last member there', async () => {
  const [first] = blues as [Member]
  setDesired([red, blue], [...reds, ...blues, third], { desired: 'stopped' })
  for (const agent of agents) await agent.reaches(1, 'gone')
  for (const member of [...blues, third]) await agentOf(member).reaches(2, 'gone')
  for (const machine of row.machines) {
    await waitUntil('nothing is left', async () => (await traces(machine)).length === 0, 20_000).catch(async (error: Error) => {
      throw new Error(`${error.message}: ${(await traces(machine)).join(' ')}\n${agentOf(first).log}`)
    })
  }
})

test('[HOST-161] [HOST-162] traffic between encrypting hosts cannot be read, and the largest packet that all of them carry arrives whole', async () => {
  // The uplink of the second machine has a smaller MTU.
  await row.run(row.machines[1] as RowMachine, 'ip', 'link', 'set', UPLINK, 'mtu', '1450')
  // The first machine filters incoming packets by reverse path.
  await row.run(row.machines[0] as RowMachine, 'sh', '-c', 'echo 1 > /proc/sys/net/ipv4/conf/all/rp_filter')
  const pair = [0, 1].map((at) => ({ at, generation: 4, account: 'ada' }))
  for (const member of pair) {
    await agentOf(member as Member).end('SIGKILL')
    await agentOf(member as Member).start(['--overlay-encryption', 'require'], { DOCKER_HOST: machineOf(member as Member).engine.address })
  }
  const said = await Promise.all(pair.map(({ at }) => saidOf(agents[at] as PodAgent)))
  expect(said.map(({ encryption, mtu }) => ({ encryption, mtu }))).toEqual([
    { encryption: 'wireguard', mtu: 1_370 },
    { encryption: 'wireguard', mtu: 1_320 },
  ])
  const hosts = said.map(({ address, publicKey }) => ({ address: address ?? '', publicKey: publicKey ?? '' }))
  const green = { ...overlayOf('green', 3, [0, 1]), hosts, mtu: 1_320 }
  const greens = pair.map((member) => ({ ...member, overlay: green }))
  const [first, second] = greens as [Member, Member]
  setDesired([green], greens)
  for (const member of greens) await agentOf(member).reaches(4, 'running')
  for (const member of greens) await listens(await pidOf(member))

  expect(await Promise.all(greens.map((member) => inside(member, 'cat', '/sys/class/net/ens1/mtu')))).toEqual(['1320', '1320'])
  await waitUntil('they reach one another', async () => (await reachesByName(first, 'node-1')) === '10.64.3.3', 30_000)
  expect(await row.ask(await pidOf(first), { whole: ['whole', '10.64.3.3', PORT] })).toEqual({ whole: true })
  expect(await sniffBetween(first, '10.64.3.3')).toEqual({ ports: [51_821], seen: false })

  // The encrypting device is gone: nothing leaves in plain text until it is back.
  const device = /pw-\w+/.exec(await row.run(machineOf(first), 'ip', '-o', 'link', 'show'))?.[0] ?? ''
  const seen = await row.sniff(machineOf(first), SECRET, async () => {
    await row.run(machineOf(first), 'ip', 'link', 'delete', device)
    await notify(first, '10.64.3.3')
    await waitUntil('it encrypts again', async () => (await reachesByName(first, 'node-1')) === '10.64.3.3', 30_000)
  })
  expect(seen).toEqual({ ports: [51_821], seen: false })

  setDesired([green], greens, { desired: 'stopped' })
  for (const member of greens) await agentOf(member).reaches(4, 'gone')
  await waitUntil('nothing is left', async () => (await traces(machineOf(second))).length === 0, 20_000)
})

test('[HOST-146] files of the platform are in the container before it starts, with their owner and mode', async () => {
  const agent = agents[0] as PodAgent
  const content = Buffer.from('secret').toString('base64')
  const files = [
    { path: '/etc/passwd', content: Buffer.from('root:x:0:0::/:/bin/sh\n').toString('base64'), mode: 0o644 },
    { path: `/etc/munge/${'long-'.repeat(20)}/munge.key`, content, mode: 0o400 },
  ]
  agent.plane.setDesired(agent.workload(3, IDLE, { files }))
  await agent.reaches(3, 'running')
  const shell = (script: string) => row.machines[0]?.engine.docker('exec', agent.container(3), '/bin/busybox', 'sh', '-c', script)
  expect(await shell("busybox stat -c '%a %u %g' /etc/munge/*/munge.key && busybox cat /etc/munge/*/munge.key")).toBe('400 0 0\nsecret')
  // A container in no private network resolves no names of one.
  const pid = await row.machines[0]?.engine.docker('inspect', '--format', '{{.State.Pid}}', agent.container(3))
  const [answer] = await row.askNames(pid ?? '', [['udp', OWN_NAMES, `node-0.${DOMAIN}`, A]])
  expect(readAnswer(answer ?? null)).toEqual({ rcode: 'REFUSED', data: [] })
})

/** The agent's last report on private networks since its start. */
async function saidOf(agent: PodAgent): Promise<OverlayInventory> {
  return await waitUntil(
    'the agent has said what encrypts',
    () => {
      const hello = agent.plane.messages.findLast((message) => message.type === 'hello')
      return hello?.inventory.overlay?.publicKey === undefined ? undefined : hello.inventory.overlay
    },
    30_000,
  ).catch((error: Error) => {
    throw new Error(`${error.message}\n${agent.log}`)
  })
}

/** Sends a secret text to a member. */
async function notify(from: Member, address: string): Promise<void> {
  await row.ask(await pidOf(from), { told: ['udp', address, PORT] })
}

/** The traffic on the wire while a member sends to another one. */
async function sniffBetween(from: Member, address: string) {
  return await row.sniff(machineOf(from), SECRET, () => notify(from, address))
}

async function listens(pid: string): Promise<void> {
  await row.listen(['nsenter', `--net=/proc/${pid}/ns/net`], `0.0.0.0:${PORT}`)
}

async function machineListens({ inside: prefix }: RowMachine): Promise<void> {
  await row.listen(prefix, `0.0.0.0:${PORT}`)
}

const same = (cells: Record<string, Cell>, answer: boolean) => Object.fromEntries(Object.keys(cells).map((name) => [name, answer]))
