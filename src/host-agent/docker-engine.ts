import type Docker from 'dockerode'
import type { ContainerCreateOptions } from 'dockerode'

export type ContainerSpec = ContainerCreateOptions

export interface ContainerFacts {
  name: string
  labels: Record<string, string>
  /** The engine's word: created, running, paused, restarting, removing, exited, dead. */
  status: string
  exitCode: number
  outOfMemory: boolean
  /** Host port by container port, such as `80/tcp` → 32768. */
  hostPorts: Record<string, number>
}

/** The few calls of the Docker Engine that the agent makes; tests put a fake here. A container goes by its name. */
export interface DockerEngine {
  hasImage(image: string): Promise<boolean>
  pull(image: string, signal: AbortSignal): Promise<void>
  create(name: string, spec: ContainerSpec): Promise<void>
  start(name: string): Promise<void>
  inspect(name: string): Promise<ContainerFacts | undefined>
  /** Resolves when the container does not run any more; throws when the engine goes away meanwhile. */
  wait(name: string): Promise<void>
  stop(name: string, graceSeconds: number): Promise<void>
  remove(name: string): Promise<void>
  /** Names of all containers, running or not, with this label. */
  listNames(label: string): Promise<string[]>
  /** The last bytes of output, multiplexed as the engine sends them. */
  readLogs(name: string, lines: number): Promise<Buffer>
  /** Output with time stamps since a second, in pieces as it comes; ends when the container does. */
  followLogs(name: string, sinceSeconds: number, signal: AbortSignal): Promise<AsyncIterable<Buffer>>
  /** Gateway of the default bridge network, when the engine states it. */
  bridge(): Promise<{ gateway: string | undefined; subnet: string | undefined }>
}

/** Newest API version this agent was written for; an older engine is spoken to in its own version. */
const API_VERSION_MAX = '1.51'
const PROBE_TIMEOUT_MS = 3_000

/** Connects to the engine of DOCKER_HOST or the usual socket; throws when none answers. */
export async function connectDocker(): Promise<DockerEngine> {
  // Loaded on demand: it costs 35 MB and 140 ms, and the process runtime does without.
  const { default: Dockerode } = await import('dockerode')
  const probe = new Dockerode({ timeout: PROBE_TIMEOUT_MS })
  const { ApiVersion, MinAPIVersion } = await probe.version()
  if (MinAPIVersion !== undefined && compareVersions(MinAPIVersion, API_VERSION_MAX) > 0) {
    throw new Error(`Docker speaks API ${MinAPIVersion} or newer, this agent ${API_VERSION_MAX} at most; upgrade the agent`)
  }
  const version = compareVersions(ApiVersion, API_VERSION_MAX) < 0 ? ApiVersion : API_VERSION_MAX
  return wrapDockerode(new Dockerode({ version: `v${version}` }))
}

/** Compares `1.9` and `1.41` by their numbers. */
export function compareVersions(a: string, b: string): number {
  const [majorA = 0, minorA = 0] = a.split('.').map(Number)
  const [majorB = 0, minorB = 0] = b.split('.').map(Number)
  return majorA - majorB || minorA - minorB
}

function wrapDockerode(docker: Docker): DockerEngine {
  return {
    hasImage: async (image) => (await orUndefined(docker.getImage(image).inspect())) !== undefined,
    pull: (image, signal) => pullImage(docker, image, signal),
    // dockerode would repeat plain options, environment included, in the URL; this form keeps them in the body.
    create: async (name, spec) => void (await docker.createContainer({ _query: { name }, _body: spec } as ContainerCreateOptions)),
    start: (name) => docker.getContainer(name).start(),
    inspect: async (name) => {
      const info = await orUndefined(docker.getContainer(name).inspect())
      return info === undefined ? undefined : readFacts(info)
    },
    wait: async (name) => void (await docker.getContainer(name).wait()),
    stop: (name, graceSeconds) => ignoring([304, 404], docker.getContainer(name).stop({ t: graceSeconds })),
    remove: (name) => ignoring([404, 409], docker.getContainer(name).remove({ force: true, v: true })),
    listNames: async (label) => {
      const found = await docker.listContainers({ all: true, filters: { label: [label] } })
      return found.flatMap((container) => container.Names.slice(0, 1).map((name) => name.replace(/^\//, '')))
    },
    readLogs: (name, lines) => docker.getContainer(name).logs({ stdout: true, stderr: true, tail: lines, follow: false }),
    followLogs: async (name, sinceSeconds, signal) => {
      const options = { follow: true, stdout: true, stderr: true, timestamps: true, since: sinceSeconds, abortSignal: signal } as const
      // Declared as a stream without its iterator, but it is Node's own response.
      return (await docker.getContainer(name).logs(options)) as NodeJS.ReadableStream as AsyncIterable<Buffer>
    },
    bridge: async () => {
      const config = (await docker.getNetwork('bridge').inspect()).IPAM?.Config?.[0]
      return { gateway: config?.Gateway, subnet: config?.Subnet }
    },
  }
}

async function pullImage(docker: Docker, image: string, signal: AbortSignal): Promise<void> {
  const progress = await docker.pull(image, { abortSignal: signal })
  // The engine answers 200 before it knows whether the pull works; a failure is a line in the stream.
  const events = await new Promise<{ error?: string }[]>((resolve, reject) => {
    docker.modem.followProgress(progress, (error, output) => (error ? reject(error) : resolve(output)))
  })
  const failure = events.find((event) => event.error !== undefined)?.error
  if (failure !== undefined) throw new Error(failure)
}

function readFacts(info: Docker.ContainerInspectInfo): ContainerFacts {
  const published = Object.entries(info.NetworkSettings.Ports ?? {}).flatMap(([port, bindings]) => {
    const hostPort = Number(bindings?.[0]?.HostPort)
    return hostPort > 0 ? [[port, hostPort] as const] : []
  })
  return {
    name: info.Name.replace(/^\//, ''),
    labels: info.Config.Labels ?? {},
    status: info.State.Status,
    exitCode: info.State.ExitCode,
    outOfMemory: info.State.OOMKilled,
    hostPorts: Object.fromEntries(published),
  }
}

function statusOf(error: unknown): number | undefined {
  return error instanceof Error && 'statusCode' in error && typeof error.statusCode === 'number' ? error.statusCode : undefined
}

async function orUndefined<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call
  } catch (error) {
    if (statusOf(error) === 404) return undefined
    throw error
  }
}

async function ignoring(statuses: readonly number[], call: Promise<unknown>): Promise<void> {
  try {
    await call
  } catch (error) {
    if (!statuses.includes(statusOf(error) ?? 0)) throw error
  }
}

/** The engine's own words, without the client's "(HTTP code 404) no such image - " in front of them. */
export function engineText(error: unknown): string {
  if (error instanceof Error && 'json' in error && typeof error.json === 'object' && error.json !== null && 'message' in error.json) {
    return String(error.json.message)
  }
  const text = error instanceof Error ? error.message : String(error)
  return text.replace(/^\(HTTP code \d+\) [^-]+ - /, '').trim()
}
