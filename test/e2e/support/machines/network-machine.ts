import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { waitUntil } from '../../../support/time.ts'

const run = promisify(execFile)
const PROBE = join(import.meta.dirname, 'network-probe.py')
/** Forwards connections to a socket in the file system, which all namespaces share. */
const PASS_ON = `require('node:net').createServer((c) => { const s = require('node:net').connect(process.argv[1]); c.on('error', () => s.destroy()); s.on('error', () => c.destroy()); c.pipe(s); s.pipe(c) }).listen(Number(process.argv[2]), '127.0.0.1')`

/** One target: protocol, address and port. */
export type Cell = readonly ['tcp' | 'udp' | 'icmp' | 'whole', string, number]

/** The public address of the machine of a test, and the router in front of everything else. */
export const MACHINE = '198.51.100.2'
const ROUTER = '198.51.100.1'

/**
 * A machine of a test's own: network namespaces for it and for the outside world, so that engines and packet filters there are separate
 * from the real machine's. Needs root.
 */
export class NetworkMachine {
  private readonly id = randomBytes(3).toString('hex')
  private readonly dir = mkdtempSync(join(tmpdir(), 'podplane-net-'))
  private readonly children: ChildProcess[] = []
  private readonly servers: Server[] = []
  readonly namespace = `pph${this.id}`
  private readonly world = `ppw${this.id}`

  /** `addresses` are those of the outside world, each with its prefix length. */
  async start(addresses: readonly string[]): Promise<void> {
    for (const name of [this.namespace, this.world]) {
      await run('ip', ['netns', 'add', name])
      await run('ip', ['-n', name, 'link', 'set', 'lo', 'up'])
    }
    const [inner, outer] = [`h${this.id}`, `w${this.id}`]
    await run('ip', ['link', 'add', inner, 'netns', this.namespace, 'type', 'veth', 'peer', 'name', outer, 'netns', this.world])
    await run('ip', ['-n', this.namespace, 'addr', 'add', `${MACHINE}/24`, 'dev', inner])
    await run('ip', ['-n', this.world, 'addr', 'add', `${ROUTER}/24`, 'dev', outer])
    await run('ip', ['-n', this.namespace, 'link', 'set', inner, 'up'])
    await run('ip', ['-n', this.world, 'link', 'set', outer, 'up'])
    await run('ip', ['-n', this.namespace, 'route', 'add', 'default', 'via', ROUTER])
    for (const address of addresses) await run('ip', ['-n', this.world, 'addr', 'add', address, 'dev', 'lo'])
  }

  /** Adds addresses of the machine itself. */
  async addAddresses(addresses: readonly string[]): Promise<void> {
    for (const address of addresses) await run('ip', ['-n', this.namespace, 'addr', 'add', address, 'dev', 'lo'])
  }

  /** Gives the outside world routes to networks behind the machine. */
  async routeTo(subnets: readonly string[]): Promise<void> {
    for (const subnet of subnets) await run('ip', ['-n', this.world, 'route', 'add', subnet, 'via', MACHINE])
  }

  /** Arguments that run a command on the machine. */
  get inside(): string[] {
    return enter(`/run/netns/${this.namespace}`)
  }

  /** Runs a command on the machine. */
  async run(...command: string[]): Promise<string> {
    const [program = '', ...prefix] = this.inside
    return (await run(program, [...prefix, ...command])).stdout
  }

  nft(...args: string[]): Promise<string> {
    return this.run('nft', ...args)
  }

  /** Makes a server of this process at `url` reachable under the same address on the machine. */
  async bring(url: string): Promise<void> {
    const { hostname, port } = new URL(url)
    const path = join(this.dir, `${port}.sock`)
    const server = createServer((client) => {
      const upstream = connect(Number(port), hostname)
      client.on('error', () => upstream.destroy())
      upstream.on('error', () => client.destroy())
      client.pipe(upstream)
      upstream.pipe(client)
    })
    server.listen(path)
    this.servers.push(server)
    await once(server, 'listening')
    this.spawn(this.inside, process.execPath, '-e', PASS_ON, path, port)
    const cell = { plane: ['tcp', hostname, Number(port)] as const }
    await waitUntil('the plane is reached from the machine', async () => (await this.askFromMachine(cell)).plane === true, 20_000)
  }

  listenOnMachine(...places: string[]): Promise<void> {
    return this.listen(this.inside, places)
  }

  listenInWorld(...places: string[]): Promise<void> {
    return this.listen(enter(`/run/netns/${this.world}`), places)
  }

  /** Listens in the network of a process, for example of a container. */
  listenWith(pid: string, ...places: string[]): Promise<void> {
    return this.listen(enter(`/proc/${pid}/ns/net`), places)
  }

  private async listen(prefix: readonly string[], places: readonly string[]): Promise<void> {
    const child = this.spawn(prefix, 'python3', PROBE, 'listen', ...places)
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (data) => {
        output += data
      })
    }
    await waitUntil(`listening at ${places.join(' ')}`, () => output.includes('listening'), 20_000).catch((error: Error) => {
      throw new Error(`${error.message}\n${output}`)
    })
  }

  /** The cells that answer, probed with the network of a process. */
  askWith(pid: string, cells: Record<string, Cell>): Promise<Record<string, boolean>> {
    return this.ask(enter(`/proc/${pid}/ns/net`), cells)
  }

  askFromMachine(cells: Record<string, Cell>): Promise<Record<string, boolean>> {
    return this.ask(this.inside, cells)
  }

  askFromWorld(cells: Record<string, Cell>): Promise<Record<string, boolean>> {
    return this.ask(enter(`/run/netns/${this.world}`), cells)
  }

  /** Opens this many UDP connections with the network of a process. */
  async floodWith(pid: string, address: string, count: number): Promise<void> {
    const [program = '', ...prefix] = enter(`/proc/${pid}/ns/net`)
    await run(program, [...prefix, 'python3', PROBE, 'flood', address, String(count)])
  }

  /** The number of connections that the machine tracks, and its maximum. */
  async connections(): Promise<{ count: number; max: number }> {
    const of = async (name: string) => Number(await this.run('cat', `/proc/sys/net/netfilter/nf_conntrack_${name}`))
    return { count: await of('count'), max: await of('max') }
  }

  private async ask([program = '', ...prefix]: readonly string[], cells: Record<string, Cell>): Promise<Record<string, boolean>> {
    const asking = run(program, [...prefix, 'python3', PROBE, 'ask'])
    asking.child.stdin?.end(JSON.stringify(cells))
    return JSON.parse((await asking).stdout) as Record<string, boolean>
  }

  private spawn([program = '', ...prefix]: readonly string[], ...command: string[]): ChildProcess {
    const child = spawn(program, [...prefix, ...command], { stdio: ['ignore', 'pipe', 'pipe'] })
    this.children.push(child)
    return child
  }

  async close(): Promise<void> {
    for (const child of this.children) {
      if (child.exitCode !== null || child.signalCode !== null) continue
      child.kill('SIGKILL')
      await once(child, 'exit')
    }
    for (const server of this.servers) server.close()
    for (const name of [this.namespace, this.world]) await run('ip', ['netns', 'del', name]).catch(() => {})
    rmSync(this.dir, { recursive: true, force: true })
  }
}

// Enters the network namespace alone: `ip netns exec` would hide the control groups, without which no container starts.
function enter(path: string): string[] {
  return ['nsenter', `--net=${path}`]
}
