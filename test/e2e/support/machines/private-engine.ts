import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { waitUntil } from '../../../support/time.ts'
import { removeMounted } from './tmpfs.ts'

const run = promisify(execFile)
const READY_MS = 60_000
const ENGINE = 'dockerd'
const CONTAINERD = 'containerd'

/** A container engine of a test's own, which the test may kill. It needs root, as the container engine of the machine does. */
export class PrivateEngine {
  private readonly dir = mkdtempSync(join(tmpdir(), 'podplane-engine-'))
  private bridge: string | undefined
  private readonly flags: readonly string[]
  /** A command prefix of the engine's, which selects where it runs; such an engine has the packet filter of that place to itself. */
  within: readonly string[] = []
  private child: ChildProcess | undefined
  private containerd: ChildProcess | undefined
  private output = ''

  constructor(...flags: string[]) {
    this.flags = flags
    // Root of a container that is an unprivileged user on the machine must be able to traverse to its files.
    chmodSync(this.dir, 0o711)
  }

  /** For DOCKER_HOST. */
  get address(): string {
    return `unix://${this.dir}/docker.sock`
  }

  /** Arguments that select it in the docker client. */
  get clientArgs(): string[] {
    return ['--host', this.address]
  }

  async start(): Promise<void> {
    if (this.child === undefined) {
      this.startContainerd()
      if (this.within.length === 0) this.bridge = await addBridge()
    }
    const places = ['--data-root', join(this.dir, 'data'), '--exec-root', join(this.dir, 'exec'), '--pidfile', join(this.dir, 'pid')]
    // The storage driver of this machine's own engine is known to work.
    const { stdout: driver } = await run('docker', ['info', '--format', '{{.Driver}}'])
    const parts = ['--containerd', join(this.dir, 'containerd.sock'), '--storage-driver', driver.trim()]
    const network = this.bridge === undefined ? [] : ['--bridge', this.bridge, '--iptables=false']
    const [program = ENGINE, ...before] = [...this.within, ENGINE]
    this.child = spawn(program, [...before, '--host', this.address, ...parts, ...places, ...network, ...this.flags], {
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    this.child.stderr?.on('data', (data) => {
      this.output += data
    })
    await waitUntil('the engine answers', () => this.answers(), READY_MS, 100).catch((error: unknown) => {
      throw new Error(`${String(error)}\n${this.output.slice(-2_000)}`)
    })
  }

  // A process of its own, as in system packages: a containerd started by the engine itself does not outlive the engine.
  private startContainerd(): void {
    const text = [
      'version = 2',
      `root = "${this.dir}/containerd-root"`,
      `state = "${this.dir}/containerd-state"`,
      'disabled_plugins = ["io.containerd.grpc.v1.cri"]',
      '[grpc]',
      `address = "${this.dir}/containerd.sock"`,
    ].join('\n')
    writeFileSync(join(this.dir, 'containerd.toml'), text)
    this.containerd = spawn(CONTAINERD, ['--config', join(this.dir, 'containerd.toml')], { stdio: 'ignore' })
  }

  private async answers(): Promise<boolean> {
    return await this.docker('version').then(
      () => true,
      () => false,
    )
  }

  async docker(...args: string[]): Promise<string> {
    const { stdout } = await run('docker', ['--host', this.address, ...args])
    return stdout.trim()
  }

  /** Copies an image of the machine's engine. */
  async load(image: string): Promise<void> {
    const file = join(this.dir, 'image.tar')
    await run('docker', ['save', '--output', file, image])
    await this.docker('load', '--input', file)
  }

  /** Ends the engine alone; its containers are left to the engine's own handling. */
  async kill(signal: NodeJS.Signals): Promise<void> {
    await end(this.child, signal)
  }

  /** Removes all containers and the engine. */
  async close(): Promise<void> {
    if (!(await this.answers())) await this.start()
    const ids = await this.docker('ps', '--all', '--quiet')
    if (ids !== '') await this.docker('rm', '--force', ...ids.split('\n'))
    await this.docker('network', 'prune', '--force')
    await end(this.child, 'SIGTERM')
    await end(this.containerd, 'SIGTERM')
    if (this.bridge !== undefined) await run('ip', ['link', 'del', this.bridge])
    // A killed engine has left its mounts.
    await removeMounted(this.dir)
  }
}

/** A network of the engine's own. Engines of other tests run beside it, so a number in use is skipped. */
async function addBridge(): Promise<string> {
  for (;;) {
    const number = randomBytes(1).readUInt8()
    const bridge = `ppe2e${number}`
    const isOurs = await run('ip', ['link', 'add', bridge, 'type', 'bridge']).then(
      () => true,
      (error: unknown) => {
        if (/File exists/.test(String(error))) return false
        throw error
      },
    )
    if (!isOurs) continue
    await run('ip', ['addr', 'add', `172.30.${number}.1/24`, 'dev', bridge])
    await run('ip', ['link', 'set', bridge, 'up'])
    return bridge
  }
}

async function end(child: ChildProcess | undefined, signal: NodeJS.Signals): Promise<void> {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
  child.kill(signal)
  await once(child, 'exit')
}
