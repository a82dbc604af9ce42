import { ApiError } from '../../../../src/client/client.ts'
import { docker } from '../machines/docker.ts'
import { LogFollower } from './log-follower.ts'
import { callPlane, eventually, type TestPlane } from './plane.ts'

/** A pod as the tests read it. */
export interface PodView {
  id: string
  name: string
  status: string
  statusReason: string | null
  actions: string[]
  cost: number
  env: Record<string, string>
  mounts: Record<string, unknown>
  gpu?: { id: string; count: number }
  ssh: { direct: { host: string; port: number; username: string; command: string } | null }
  runtime: { uptime?: number; ports?: { private: number; public: number; type: string; ip: string | null }[] } | null
  createdAt: string
  startedAt: string | null
}

/** A container as the engine describes it. */
export interface ContainerFacts {
  Id: string
  State: { Status: string; StartedAt: string; FinishedAt: string; ExitCode: number }
  Config: { Env: string[]; Labels: Record<string, string> }
}

type PodPlane = Pick<TestPlane, 'url' | 'apiKey'>

export const GPU_TYPE = 'NVIDIA L4'
/** Docker client arguments; others select another engine than the machine's own. */
const OWN_ENGINE: readonly string[] = []
/** Holds of the plane are at most 25 s long. */
const WAIT_MS = 60_000
/** Each query of the engine costs two processes. */
const ENGINE_POLL_MS = 250
const WORKLOAD_LABEL = 'podplane.workload'

/** A body of `POST /v2/pods`: by default one simulated GPU and one program. */
export function podBody(image: string, script: string, members: Record<string, unknown> = {}): Record<string, unknown> {
  return { name: 'test', image, cmd: ['/bin/busybox', 'sh', '-c', script], disk: 1, gpu: { id: GPU_TYPE, count: 1 }, ...members }
}

/** A pod of the demo account, driven over the public REST API; its containers are observed through the engine. */
export class TestPod {
  readonly id: string
  /** The answer to its creation. */
  readonly created: PodView
  private readonly plane: PodPlane
  private readonly engine: readonly string[]

  private constructor(plane: PodPlane, created: PodView, engine: readonly string[]) {
    this.plane = plane
    this.created = created
    this.id = created.id
    this.engine = engine
  }

  static async create(plane: PodPlane, body: Record<string, unknown>, engine = OWN_ENGINE): Promise<TestPod> {
    return new TestPod(plane, await callPlane<PodView>(plane, plane.apiKey, 'POST', '/v2/pods', body), engine)
  }

  /** Creates a pod and waits until it runs. */
  static async run(plane: PodPlane, body: Record<string, unknown>, engine = OWN_ENGINE): Promise<TestPod> {
    const pod = await TestPod.create(plane, body, engine)
    await pod.reaches('RUNNING')
    return pod
  }

  /** The same pod after its plane was restarted. */
  on(plane: PodPlane): TestPod {
    return new TestPod(plane, this.created, this.engine)
  }

  get(): Promise<PodView> {
    return this.call('GET', '')
  }

  act(action: 'start' | 'stop' | 'restart' | 'terminate'): Promise<PodView> {
    return this.call('POST', '/action', { action })
  }

  patch(body: Record<string, unknown>): Promise<PodView> {
    return this.call('PATCH', '', body)
  }

  /** Waits for a status by long poll; an error shows the status of the pod. */
  async reaches(status: string, timeoutMs = WAIT_MS): Promise<PodView> {
    let last: PodView | undefined
    return await eventually(`pod ${this.id} is ${status}`, timeoutMs, async () => {
      last = await this.call<PodView>('GET', `?waitFor=${status}`)
      return last.status === status && last
    }).catch((error: unknown) => {
      throw new Error(`${String(error)}; it is ${last?.status} (${last?.statusReason})`)
    })
  }

  /** Terminates the pod and waits until neither the plane nor the engine has it. */
  async terminate(): Promise<void> {
    await this.call('DELETE', '')
    await this.isGone()
  }

  /** Waits until no container of the pod is left. */
  async isGone(): Promise<void> {
    await eventually(`nothing is left of pod ${this.id}`, WAIT_MS, async () => (await this.containers()).length === 0, ENGINE_POLL_MS)
  }

  /** Waits until no container of the pod runs, and returns its newest. */
  async isDown(): Promise<ContainerFacts> {
    const probe = async () => {
      const [newest, ...others] = await this.containers()
      return newest !== undefined && ![newest, ...others].some(({ State }) => State.Status === 'running') && newest
    }
    return await eventually(`no container of pod ${this.id} runs`, WAIT_MS, probe, ENGINE_POLL_MS)
  }

  /** Whether the plane answers that the pod does not exist. */
  async isUnknown(): Promise<boolean> {
    return await this.get().then(
      () => false,
      (error: unknown) => {
        if (error instanceof ApiError) return error.status === 404
        throw error
      },
    )
  }

  log(): LogFollower {
    return LogFollower.ofPod(this.plane, this.id)
  }

  /** Its containers on this machine, of all generations, newest first. */
  async containers(): Promise<ContainerFacts[]> {
    const format = `{{.ID}} {{.Label "${WORKLOAD_LABEL}"}}`
    const listed = await docker(...this.engine, 'ps', '--all', '--no-trunc', '--filter', `label=${WORKLOAD_LABEL}`, '--format', format)
    const ids = listed.split('\n').flatMap((line) => {
      const [id = '', workload = ''] = line.split(' ')
      return workload.startsWith(`${this.id}-`) ? [{ id, generation: Number(workload.slice(this.id.length + 1)) }] : []
    })
    const newestFirst = ids.toSorted((a, b) => b.generation - a.generation).map(({ id }) => id)
    const found = await Promise.all(newestFirst.map((id) => this.inspect(id)))
    return found.filter((facts) => facts !== undefined)
  }

  /** Its newest container. */
  async container(): Promise<ContainerFacts> {
    const [newest] = await this.containers()
    if (newest === undefined) throw new Error(`pod ${this.id} has no container`)
    return newest
  }

  /** Runs a shell command in the newest container and returns its output. */
  async shell(command: string): Promise<string> {
    const { Id } = await this.container()
    return await docker(...this.engine, 'exec', Id, '/bin/busybox', 'sh', '-c', command)
  }

  /** Runs a command in an image with a shell of its own. */
  async shellOf(command: string): Promise<string> {
    const { Id } = await this.container()
    return await docker(...this.engine, 'exec', Id, '/bin/sh', '-c', command)
  }

  /** Ends the program of the newest container as if by itself: the plane was not involved. */
  async endProgram(): Promise<void> {
    const { Id } = await this.container()
    await docker(...this.engine, 'kill', '--signal', 'TERM', Id)
  }

  // A container that is removed between list and inspection counts as gone.
  private async inspect(id: string): Promise<ContainerFacts | undefined> {
    const text = await docker(...this.engine, 'inspect', '--type', 'container', id).catch((error: unknown) => {
      if (/No such container/i.test(String(error))) return '[]'
      throw error
    })
    return (JSON.parse(text) as ContainerFacts[])[0]
  }

  private call<T>(method: string, path: string, body?: unknown): Promise<T> {
    return callPlane<T>(this.plane, this.plane.apiKey, method, `/v2/pods/${this.id}${path}`, body)
  }
}
