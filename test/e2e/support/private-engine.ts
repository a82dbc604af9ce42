import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { docker } from './docker.ts'
import { eventually } from './plane.ts'

const START_WAIT_MS = 60_000
const END_WAIT_MS = 30_000

const runFile = promisify(execFile)

/** A container engine of the tests' own, which may be killed: the machine's engine and its containers are not touched. */
export class PrivateEngine {
  readonly socket: string
  private readonly directory: string
  private readonly bridge: string
  private readonly flags: readonly string[]
  private process: ChildProcess | undefined

  private constructor(directory: string, bridge: string, flags: readonly string[]) {
    this.directory = directory
    this.bridge = bridge
    this.flags = flags
    this.socket = `unix://${join(directory, 'docker.sock')}`
  }

  /** Starts an engine that is this machine's engine in all but its state; `index` (0 to 99) tells its network from those of others. */
  static async start(index: number, { liveRestore }: { liveRestore: boolean }): Promise<PrivateEngine> {
    const directory = mkdtempSync(join(tmpdir(), 'ppe-'))
    const bridge = `podplane-e2e${index}`
    await ip('link', 'delete', bridge).catch(() => undefined)
    await ip('link', 'add', bridge, 'type', 'bridge')
    await ip('address', 'add', `10.213.${index}.1/24`, 'dev', bridge)
    await ip('link', 'set', bridge, 'up')
    const driver = await docker('info', '--format', '{{.Driver}}')
    const flags = ['--storage-driver', driver, ...(liveRestore ? ['--live-restore'] : [])]
    const engine = new PrivateEngine(directory, bridge, flags)
    try {
      await engine.launch()
      return engine
    } catch (error) {
      await engine.remove()
      throw error
    }
  }

  /** Arguments of the docker client that lead to it. */
  get clientArgs(): string[] {
    return ['--host', this.socket]
  }

  /** Starts it, again when it was killed, and waits until it answers. */
  async launch(): Promise<void> {
    const log = openSync(join(this.directory, 'dockerd.log'), 'a')
    const paths = ['--data-root', this.path('data'), '--exec-root', this.path('exec'), '--pidfile', this.path('pid')]
    // Without packet filter rules: those are the machine's engine's.
    const network = ['--bridge', this.bridge, '--iptables=false', '--ip6tables=false', '--ip-masq=false']
    this.process = spawn('dockerd', ['--host', this.socket, ...paths, ...network, ...this.flags], { stdio: ['ignore', log, log] })
    closeSync(log)
    await eventually('the private engine answers', START_WAIT_MS, () =>
      docker(...this.clientArgs, 'version').then(
        () => true,
        () => {
          if (this.process?.exitCode !== null) throw new Error(`dockerd ended:\n${this.logTail()}`)
          return false
        },
      ),
    )
  }

  /** Copies an image of the machine's engine. */
  async takeImage(tag: string): Promise<void> {
    const file = this.path('image.tar')
    await docker('save', '--output', file, tag)
    await docker(...this.clientArgs, 'load', '--input', file)
    rmSync(file)
  }

  /** Ends the engine at once, as a crash would. */
  async kill(): Promise<void> {
    await this.end('SIGKILL')
  }

  /** Ends the engine with all that it runs and removes its state. */
  async remove(): Promise<void> {
    const containers = await docker(...this.clientArgs, 'ps', '--all', '--quiet').catch(() => '')
    if (containers !== '') await docker(...this.clientArgs, 'rm', '--force', '--volumes', ...containers.split('\n'))
    await this.end('SIGTERM')
    for (const pid of this.leftovers()) process.kill(pid, 'SIGKILL')
    for (const mount of mountsBelow(this.directory)) await runFile('umount', ['--lazy', mount])
    await ip('link', 'delete', this.bridge).catch(() => undefined)
    rmSync(this.directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
  }

  private async end(signal: NodeJS.Signals): Promise<void> {
    const child = this.process
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    child.kill(signal)
    await eventually('the private engine has ended', END_WAIT_MS, async () => child.exitCode !== null || child.signalCode !== null)
  }

  /** Shims of containers and the container daemon that outlived their engine: they name this directory. */
  private leftovers(): number[] {
    const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
    return pids.filter((pid) => commandLine(pid).includes(`${this.directory}/`)).map(Number)
  }

  private logTail(): string {
    return readFileSync(join(this.directory, 'dockerd.log'), 'utf8').slice(-2_000)
  }

  private path(name: string): string {
    return join(this.directory, name)
  }
}

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
  } catch {
    return ''
  }
}

/** Innermost first, so that they can be unmounted one after the other. */
function mountsBelow(directory: string): string[] {
  const points = readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[1] ?? '')
  return points.filter((point) => point.startsWith(`${directory}/`)).toReversed()
}

async function ip(...args: string[]): Promise<void> {
  await runFile('ip', args)
}
