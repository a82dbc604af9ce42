import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeAll, beforeEach } from 'vitest'
import type { Workload, WorkloadReport } from '../../../../src/host-protocol/messages.ts'
import { FakePlane } from '../../../host-agent/support/fake-plane.ts'
import { makeWorkload } from '../../../host-agent/support/workload.ts'
import { waitUntil } from '../../../support/time.ts'
import { docker } from '../machines/docker.ts'
import { removeNetworks } from '../machines/networks.ts'
import { busyboxImage } from './worker-image.ts'

const ENTRY = join(import.meta.dirname, '../../../../src/host-agent/main.ts')
const START_MS = 60_000

/** A container that lives until it is stopped. */
export const IDLE = 'trap "exit 0" TERM; while :; do busybox sleep 0.1; done'

/** Gives each test of a file an agent of its own, and removes everything that the agent created. */
export function freshPodAgents(use: (agent: PodAgent) => void): void {
  let image: string
  let agent: PodAgent
  beforeAll(async () => {
    image = await busyboxImage()
  })
  beforeEach(() => {
    agent = new PodAgent(image)
    use(agent)
  })
  afterEach(() => agent.close())
}

/** A real agent process on the real engine, with a played plane that sends the desired state and records reports. */
export class PodAgent {
  readonly plane = new FakePlane()
  readonly stateDir = mkdtempSync(join(tmpdir(), 'podplane-pods-'))
  /** A pod id of its own, because containers of other tests are on the same engine. */
  readonly pod = `t${randomBytes(5).toString('hex')}`
  readonly image: string
  /** A command prefix of the agent's, which selects where it runs. */
  within: readonly string[] = []
  log = ''
  private child: ChildProcess | undefined
  private url = ''

  constructor(image: string) {
    this.image = image
    this.plane.hostId = `host_${this.pod}`
  }

  /** Starts the played plane and returns its address. */
  async listen(): Promise<string> {
    if (this.url === '') this.url = await this.plane.listen()
    return this.url
  }

  async start(flags: readonly string[] = [], env: Record<string, string> = {}): Promise<void> {
    const own = [
      '--url',
      await this.listen(),
      '--token',
      this.plane.joinToken,
      '--name',
      'pods',
      '--state-dir',
      this.stateDir,
      '--runtime',
      'docker',
      '--local-images',
    ]
    const [program = process.execPath, ...before] = [...this.within, process.execPath]
    this.child = spawn(program, [...before, ENTRY, ...own, ...flags], {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { ...process.env, ...env },
    })
    this.child.stderr?.on('data', (data) => {
      this.log += data
    })
  }

  /** Process id of the agent, while it lives. */
  get pid(): number | undefined {
    return this.child?.exitCode === null && this.child.signalCode === null ? this.child.pid : undefined
  }

  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    if (this.child === undefined || this.child.exitCode !== null || this.child.signalCode !== null) return
    this.child.kill(signal)
    await once(this.child, 'exit')
  }

  /** Ends the agent and removes everything that it created on this machine. */
  async close(): Promise<void> {
    await this.end('SIGKILL')
    const label = `label=podplane.host=${this.plane.hostId}`
    await removeAll('rm', await docker('ps', '--all', '--quiet', '--filter', label))
    await removeAll('rmi', await docker('images', '--quiet', '--filter', label))
    await this.plane.close()
    await removeNetworks(this.stateDir)
    rmSync(this.stateDir, { recursive: true, force: true })
  }

  id(generation: number): string {
    return `${this.pod}-${generation}`
  }

  /** The workload of a generation that runs `script` in a shell. */
  workload(generation: number, script: string, change: Partial<Workload> = {}): Workload {
    return makeWorkload({ id: this.id(generation), image: this.image, entrypoint: ['/bin/busybox', 'sh', '-c'], cmd: [script], ...change })
  }

  /** The persistent volume of the pod. */
  volume(path = '/workspace') {
    return { kind: 'persistent' as const, id: this.pod, path, sizeGb: 1 }
  }

  async reaches(generation: number, state: WorkloadReport['state']): Promise<WorkloadReport> {
    const last = () => this.plane.last(this.id(generation))
    return await waitUntil(
      `${this.id(generation)} ${state}; last: ${JSON.stringify(last())}`,
      () => (last()?.state === state ? last() : undefined),
      START_MS,
    ).catch((error: Error) => {
      throw new Error(`${error.message}; reported: ${JSON.stringify(this.plane.reports)}\n${this.log}`)
    })
  }

  container(generation: number): string {
    return `podplane-${this.id(generation)}`
  }

  /** Runs a shell command in the container of a generation. */
  async shell(generation: number, script: string): Promise<string> {
    return await docker('exec', this.container(generation), '/bin/busybox', 'sh', '-c', script)
  }

  async inspect(generation: number, format: string): Promise<string> {
    return await docker('inspect', '--format', format, this.container(generation))
  }

  /** Containers and disk images of this host. */
  async leftovers(): Promise<{ containers: string[]; images: string[] }> {
    const label = `label=podplane.host=${this.plane.hostId}`
    const containers = await docker('ps', '--all', '--filter', label, '--format', '{{.Names}}')
    const images = await docker('images', '--filter', label, '--format', '{{.Repository}}:{{.Tag}}')
    return { containers: lines(containers), images: lines(images) }
  }
}

function lines(text: string): string[] {
  return text === '' ? [] : text.split('\n').toSorted()
}

async function removeAll(verb: 'rm' | 'rmi', ids: string): Promise<void> {
  if (ids !== '') await docker(verb, '--force', ...(verb === 'rm' ? ['--volumes'] : []), ...new Set(ids.split('\n')))
}
