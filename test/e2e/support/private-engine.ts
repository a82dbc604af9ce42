import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'

const run = promisify(execFile)
const READY_MS = 60_000
const POLL_MS = 100

/**
 * A container engine of a test's own, which it may kill. It needs root, as the container engine of the machine does. Its container daemon is
 * a process of its own, as system services have it: only the engine goes when the engine is killed.
 */
export class PrivateEngine {
  private readonly dir = mkdtempSync(join(tmpdir(), 'podplane-engine-'))
  private readonly number = randomBytes(1).readUInt8()
  private readonly bridge = `ppe2e${this.number}`
  private readonly flags: readonly string[]
  private containerd: ChildProcess | undefined
  private child: ChildProcess | undefined
  private output = ''

  constructor(...flags: string[]) {
    this.flags = flags
  }

  /** For DOCKER_HOST. */
  get address(): string {
    return `unix://${this.dir}/docker.sock`
  }

  /** Arguments that lead the docker client to it. */
  get clientArgs(): string[] {
    return ['--host', this.address]
  }

  /** Starts it, again when it was killed, and waits until it answers. */
  async start(): Promise<void> {
    if (this.containerd === undefined) {
      await this.makeBridge()
      this.containerd = this.spawn('containerd', ['--config', this.writeContainerdConfig()])
    }
    const { stdout: driver } = await run('docker', ['info', '--format', '{{.Driver}}'])
    const places = ['--data-root', this.path('data'), '--exec-root', this.path('exec'), '--pidfile', this.path('pid')]
    // The machine's packet filter belongs to the machine's engine.
    const network = ['--bridge', this.bridge, '--iptables=false', '--ip6tables=false', '--ip-masq=false']
    const daemon = ['--host', this.address, '--containerd', this.path('containerd.sock'), '--storage-driver', driver.trim()]
    this.child = this.spawn('dockerd', [...daemon, ...places, ...network, ...this.flags])
    const deadline = performance.now() + READY_MS
    while (!(await this.answers())) {
      if (performance.now() > deadline || hasEnded(this.child)) throw new Error(`the engine does not answer:\n${this.output.slice(-4_000)}`)
      await sleep(POLL_MS)
    }
  }

  async docker(...args: string[]): Promise<string> {
    const { stdout } = await run('docker', [...this.clientArgs, ...args])
    return stdout.trim()
  }

  /** Copies an image of the machine's engine. */
  async load(image: string): Promise<void> {
    const file = this.path('image.tar')
    await run('docker', ['save', '--output', file, image])
    await this.docker('load', '--input', file)
    rmSync(file)
  }

  /** Ends the engine alone; containers are left to what the engine does with them. */
  async kill(signal: NodeJS.Signals): Promise<void> {
    await end(this.child, signal)
  }

  /** Removes all containers and the engine. */
  async close(): Promise<void> {
    try {
      if (!(await this.answers())) await this.start()
      const ids = await this.docker('ps', '--all', '--quiet')
      if (ids !== '') await this.docker('rm', '--force', '--volumes', ...ids.split('\n'))
    } finally {
      await this.kill('SIGTERM')
      await end(this.containerd, 'SIGTERM')
      // What belongs to containers that could not be removed.
      for (const pid of processesNaming(`${this.dir}/`)) process.kill(pid, 'SIGKILL')
      for (const mount of mountsBelow(`${this.dir}/`)) await run('umount', ['--lazy', mount])
      await run('ip', ['link', 'del', this.bridge])
      rmSync(this.dir, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 })
    }
  }

  private async makeBridge(): Promise<void> {
    await run('ip', ['link', 'add', this.bridge, 'type', 'bridge'])
    await run('ip', ['addr', 'add', `172.30.${this.number}.1/24`, 'dev', this.bridge])
    await run('ip', ['link', 'set', this.bridge, 'up'])
  }

  private writeContainerdConfig(): string {
    const file = this.path('containerd.toml')
    const lines = [
      'version = 2',
      `root = "${this.path('containerd-data')}"`,
      `state = "${this.path('containerd-state')}"`,
      'disabled_plugins = ["io.containerd.grpc.v1.cri"]',
      '[grpc]',
      `address = "${this.path('containerd.sock')}"`,
      '[plugins."io.containerd.internal.v1.opt"]',
      `path = "${this.path('containerd-opt')}"`,
    ]
    writeFileSync(file, lines.join('\n'))
    return file
  }

  private spawn(program: string, args: readonly string[]): ChildProcess {
    const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'] })
    child.stderr?.on('data', (data) => {
      this.output += data
    })
    return child
  }

  private async answers(): Promise<boolean> {
    return await this.docker('version').then(
      () => true,
      () => false,
    )
  }

  private path(name: string): string {
    return join(this.dir, name)
  }
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null
}

async function end(child: ChildProcess | undefined, signal: NodeJS.Signals): Promise<void> {
  if (child === undefined || hasEnded(child)) return
  child.kill(signal)
  await once(child, 'exit')
}

/** Processes whose command line names a directory that nobody else uses. */
function processesNaming(text: string): number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return pids.filter((pid) => readIfThere(`/proc/${pid}/cmdline`).includes(text)).map(Number)
}

/** Innermost first, so that they can be unmounted one after the other. */
function mountsBelow(directory: string): string[] {
  const lines = readFileSync('/proc/mounts', 'utf8').split('\n')
  return lines
    .map((line) => line.split(' ')[1] ?? '')
    .filter((point) => point.startsWith(directory))
    .toReversed()
}

function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
