import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { z } from 'zod'
import type { Cell } from './network-machine.ts'
import { PrivateEngine } from './private-engine.ts'

const run = promisify(execFile)
/** A machine's interface on the network between machines. */
export const UPLINK = 'net0'
const Sniffed = z.object({ ports: z.array(z.number()), seen: z.boolean() })
const PROBE = join(import.meta.dirname, 'network-probe.py')
/** Forwards connections to a socket in the file system, which all namespaces share. */
const PASS_ON = `require('node:net').createServer((c) => { const s = require('node:net').connect(process.argv[1]); c.on('error', () => s.destroy()); s.on('error', () => c.destroy()); c.pipe(s); s.pipe(c) }).listen(Number(process.argv[2]), '127.0.0.1', () => console.log('passing'))`

/** Transport, server, name, and number of the record type. */
export type NameQuestion = readonly ['udp' | 'tcp', string, string, number]

/** One machine of a row, with an engine of its own. */
export interface RowMachine {
  /** Address on the network between the machines. */
  address: string
  engine: PrivateEngine
  /** Arguments that run a command on it. */
  inside: string[]
}

/**
 * Machines side by side on one network, each a network namespace with a container engine of its own. The network between them is a switch
 * in a namespace too, so the real machine's packet filter has no part in it. Needs root.
 */
export class MachineRow {
  private readonly id = randomBytes(3).toString('hex')
  private readonly dir = mkdtempSync(join(tmpdir(), 'podplane-row-'))
  private readonly namespaces: string[] = []
  private readonly children: ChildProcess[] = []
  private readonly servers: Server[] = []
  readonly machines: RowMachine[] = []

  async start(count: number): Promise<void> {
    const middle = await this.addNamespace('m')
    await run('ip', ['-n', middle, 'link', 'add', 'switch', 'type', 'bridge'])
    await run('ip', ['-n', middle, 'link', 'set', 'switch', 'up'])
    for (let number = 1; number <= count; number += 1) {
      const address = `10.88.0.${number}`
      const namespace = await this.addNamespace(String(number))
      await run('ip', ['-n', middle, 'link', 'add', `to${number}`, 'type', 'veth', 'peer', 'name', UPLINK, 'netns', namespace])
      await run('ip', ['-n', middle, 'link', 'set', `to${number}`, 'master', 'switch', 'up'])
      await run('ip', ['-n', namespace, 'addr', 'add', `${address}/24`, 'dev', UPLINK])
      await run('ip', ['-n', namespace, 'link', 'set', UPLINK, 'up'])
      await run('ip', ['-n', namespace, 'route', 'add', 'default', 'via', '10.88.0.254'])
      const engine = new PrivateEngine('--live-restore')
      engine.within = enter(namespace)
      this.machines.push({ address, engine, inside: enter(namespace) })
    }
    await Promise.all(this.machines.map(({ engine }) => engine.start()))
  }

  private async addNamespace(part: string): Promise<string> {
    const name = `ppr${this.id}${part}`
    await run('ip', ['netns', 'add', name])
    this.namespaces.push(name)
    await run('ip', ['-n', name, 'link', 'set', 'lo', 'up'])
    return name
  }

  /** Makes a server of this process's own network at `url` reachable under the same address on a machine. */
  async bring(url: string, { address, inside }: RowMachine): Promise<void> {
    const { hostname, port } = new URL(url)
    const path = join(this.dir, `${address}-${port}.sock`)
    const server = createServer((client) => {
      const upstream = connect(Number(port), hostname)
      client.on('error', () => upstream.destroy())
      upstream.on('error', () => client.destroy())
      client.pipe(upstream)
      upstream.pipe(client)
    })
    this.servers.push(server)
    server.listen(path)
    await once(server, 'listening')
    const [program = '', ...before] = inside
    const child = spawn(program, [...before, process.execPath, '-e', PASS_ON, path, port], { stdio: ['ignore', 'pipe', 'ignore'] })
    this.children.push(child)
    await once(child.stdout, 'data')
  }

  /** Runs a command on a machine. */
  async run({ inside }: RowMachine, ...command: string[]): Promise<string> {
    const [program = '', ...before] = inside
    return (await run(program, [...before, ...command])).stdout
  }

  /** Answers at an address, over TCP and UDP. `program` and `before` are the command prefix that selects the namespace. */
  async listen([program = '', ...before]: readonly string[], place: string): Promise<void> {
    const child = spawn(program, [...before, 'python3', PROBE, 'listen', place], { stdio: ['ignore', 'pipe', 'ignore'] })
    this.children.push(child)
    await once(child.stdout, 'data')
  }

  /** The cells that answer, probed with the network of a process, or of the machine `at` where `pid` is `self`. */
  async ask(pid: string, cells: Record<string, Cell>, at = 0): Promise<Record<string, boolean>> {
    const prefix = pid === 'self' ? (this.machines[at]?.inside ?? []) : ['nsenter', `--net=/proc/${pid}/ns/net`]
    const [program = '', ...before] = prefix
    const asking = run(program, [...before, 'python3', PROBE, 'ask'])
    asking.child.stdin?.end(JSON.stringify(cells))
    return JSON.parse((await asking).stdout) as Record<string, boolean>
  }

  /** Queries names with the network of a process; returns the raw answers. */
  async askNames(pid: string, questions: readonly NameQuestion[]): Promise<(Buffer | null)[]> {
    const asking = run('nsenter', [`--net=/proc/${pid}/ns/net`, 'python3', PROBE, 'names'])
    asking.child.stdin?.end(JSON.stringify(questions))
    const answers = z.array(z.string().nullable()).parse(JSON.parse((await asking).stdout))
    return answers.map((answer) => (answer === null ? null : Buffer.from(answer, 'hex')))
  }

  /** Queries a name `count` times at once, with the network of a process. Returns the number of answers. */
  async hurryNames(pid: string, server: string, name: string, count: number): Promise<number> {
    const asked = await run('nsenter', [`--net=/proc/${pid}/ns/net`, 'python3', PROBE, 'hurry', server, name, String(count)])
    return Number(asked.stdout)
  }

  /** Captures the traffic of a machine's interface during `act`: the ports of UDP, and whether a text was seen. */
  async sniff({ inside }: RowMachine, text: string, act: () => Promise<void>): Promise<{ ports: number[]; seen: boolean }> {
    const [program = '', ...before] = inside
    const child = spawn(program, [...before, 'python3', PROBE, 'sniff', UPLINK, text], { stdio: ['pipe', 'pipe', 'inherit'] })
    this.children.push(child)
    await once(child.stdout, 'data')
    const found = json(child.stdout)
    await act().finally(() => child.stdin.end())
    return Sniffed.parse(await found)
  }

  async close(): Promise<void> {
    for (const child of this.children) {
      if (child.exitCode !== null || child.signalCode !== null) continue
      child.kill('SIGKILL')
      await once(child, 'exit')
    }
    for (const server of this.servers) server.close()
    for (const { engine } of this.machines) await engine.close()
    for (const machine of this.machines) {
      // A program holds the device, which would outlive the namespace.
      const left = /pw-\w+/.exec(await this.run(machine, 'ip', '-o', 'link', 'show'))
      if (left !== null) await this.run(machine, 'ip', 'link', 'delete', left[0])
    }
    for (const name of this.namespaces) await run('ip', ['netns', 'del', name]).catch(() => {})
    rmSync(this.dir, { recursive: true, force: true })
  }
}

// Enters the network namespace alone: `ip netns exec` would hide the control groups, without which no container starts.
function enter(namespace: string): string[] {
  return ['nsenter', `--net=/run/netns/${namespace}`]
}
