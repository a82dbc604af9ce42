import type { Duplex } from 'node:stream'
import { finished } from 'node:stream/promises'
import type Docker from 'dockerode'
import type { ContainerCreateOptions, DockerOptions } from 'dockerode'
import type { ContainerFacts, DockerEngine, ListedContainer } from '../../engine/engine.ts'
import { ignoring, orUndefined } from '../../engine/engine-errors.ts'
import { readEngineFacts } from '../../engine/engine-facts.ts'
import { overConnection } from '../../engine/exec-stream.ts'
import { guardTransport, type Modem } from './engine-transport.ts'
import { fileCalls } from './files.ts'
import { imageCalls } from './images.ts'
import { networkCalls } from './networks.ts'
import { readUsage } from './usage.ts'

/** Newest API version that this agent supports; it uses an older engine's own version. */
const API_VERSION_MAX = '1.51'
const PROBE_TIMEOUT_MS = 3_000
/** Prefix of the labels that the agent sets on containers. */
const OWN_LABELS = 'podplane.'
const MAX_LABEL_CHARS = 16_384
/**
 * Containers per page of a list: each repeats its command, 128 KiB at most, and six times that where the engine escapes every character.
 */
const LIST_PART = 32
/** Format of the name that the engine gives to an anonymous volume. */
const ANONYMOUS = /^[0-9a-f]{64}$/

/** Connects to the engine of DOCKER_HOST or the default socket. Throws when none answers. */
export async function connectDocker(): Promise<DockerEngine> {
  // Imported on demand: it costs 35 MB and 140 ms, and the process runtime does not need it.
  const { default: Dockerode } = await import('dockerode')
  const connect = (options: DockerOptions): Docker => {
    const docker = new Dockerode(options)
    // The published types declare it as `any`; `Modem` declares the guarded part.
    guardTransport(docker.modem as unknown as Modem)
    return docker
  }
  const probe = connect({ timeout: PROBE_TIMEOUT_MS })
  const { ApiVersion, MinAPIVersion } = await probe.version()
  if (MinAPIVersion !== undefined && compareVersions(MinAPIVersion, API_VERSION_MAX) > 0) {
    throw new Error(`Docker speaks API ${MinAPIVersion} or newer, this agent ${API_VERSION_MAX} at most; upgrade the agent`)
  }
  const version = compareVersions(ApiVersion, API_VERSION_MAX) < 0 ? ApiVersion : API_VERSION_MAX
  return wrapDockerode(connect({ version: `v${version}` }))
}

/** Compares `1.9` and `1.41` by their numbers. */
export function compareVersions(a: string, b: string): number {
  const [majorA = 0, minorA = 0] = a.split('.').map(Number)
  const [majorB = 0, minorB = 0] = b.split('.').map(Number)
  return majorA - majorB || minorA - minorB
}

function wrapDockerode(docker: Docker): DockerEngine {
  return {
    info: async () => {
      const [info, version] = await Promise.all([docker.info(), docker.version()])
      return readEngineFacts({ info, version })
    },
    // dockerode would repeat plain options, environment included, in the URL; this form sends them in the body only.
    create: async (name, spec) => void (await docker.createContainer({ _query: { name }, _body: spec } as ContainerCreateOptions)),
    start: (name) => docker.getContainer(name).start(),
    inspect: async (name) => {
      const info = await orUndefined(docker.getContainer(name).inspect())
      return info === undefined ? undefined : readFacts(info)
    },
    wait: (name) => waitForEnd(docker, name),
    stop: (name, graceSeconds) => ignoring([304, 404], docker.getContainer(name).stop({ t: graceSeconds })),
    remove: (name) => removeContainer(docker, name),
    list: (...labels) => listAll(docker, labels),
    listUses: async (label) => {
      const found = await docker.listContainers({ all: true, filters: { label: [label] } })
      return found.map(({ ImageID, Labels }) => ({ image: ImageID, labels: ownLabels(Labels) }))
    },
    readLogs: (name, lines) => docker.getContainer(name).logs({ stdout: true, stderr: true, tail: lines, follow: false }),
    followLogs: async (name, sinceSeconds, signal) => {
      const options = { follow: true, stdout: true, stderr: true, timestamps: true, since: sinceSeconds, abortSignal: signal } as const
      // Declared as a stream without an iterator, but it is a Node response.
      return (await docker.getContainer(name).logs(options)) as NodeJS.ReadableStream as AsyncIterable<Buffer>
    },
    usage: (name) => readUsage(docker, name),
    ...fileCalls(docker),
    createExec: async (name, { command, env, tty }) => {
      const streams = { AttachStdin: true, AttachStdout: true, AttachStderr: true }
      return (await docker.getContainer(name).exec({ ...streams, Cmd: [...command], Env: [...env], Tty: tty })).id
    },
    startExec: async (exec, tty) =>
      overConnection((await docker.getExec(exec).start({ hijack: true, stdin: true, Detach: false, Tty: tty })) as Duplex),
    resizeExec: async (exec, rows, cols) => void (await docker.getExec(exec).resize({ h: rows, w: cols })),
    inspectExec: async (exec) => {
      const facts = await orUndefined(docker.getExec(exec).inspect())
      return facts && { running: facts.Running, exitCode: facts.ExitCode ?? null }
    },
    ...imageCalls(docker),
    ...networkCalls(docker),
    bridge: async () => {
      const config = (await docker.getNetwork('bridge').inspect()).IPAM?.Config?.[0]
      return { gateway: config?.Gateway, subnet: config?.Subnet }
    },
  }
}

/** Removes a container with its anonymous volumes; the engine itself does not remove a volume that came from a previous container. */
async function removeContainer(docker: Docker, name: string): Promise<void> {
  // A container that the engine cannot inspect is removed too.
  const info = await docker
    .getContainer(name)
    .inspect()
    .catch(() => undefined)
  await ignoring([404, 409], docker.getContainer(name).remove({ force: true, v: true }))
  const volumes = info === undefined ? [] : anonymousVolumes(info)
  for (const volume of volumes) await ignoring([404, 409], docker.getVolume(volume.name).remove())
}

/** Resolves when a container has ended: the engine ends its answer, read as a stream, at that moment. */
async function waitForEnd(docker: Docker, name: string): Promise<void> {
  const answer = await new Promise<NodeJS.ReadableStream>((resolve, reject) => {
    const statusCodes = { 200: true, 404: 'no such container', 500: 'server error' }
    const call = { path: `/containers/${name}/wait`, method: 'POST', isStream: true, statusCodes }
    docker.modem.dial(call, (error, data) => (error ? reject(error) : resolve(data as NodeJS.ReadableStream)))
  })
  answer.resume()
  await finished(answer)
}

function readFacts(info: Docker.ContainerInspectInfo): ContainerFacts {
  return {
    name: info.Name.replace(/^\//, ''),
    labels: ownLabels(info.Config.Labels),
    status: info.State.Status,
    exitCode: info.State.ExitCode,
    outOfMemory: info.State.OOMKilled,
    startedAtMs: parseTime(info.State.StartedAt),
    endedAtMs: parseTime(info.State.FinishedAt),
    addresses: Object.values(info.NetworkSettings.Networks).flatMap(({ IPAddress, GlobalIPv6Address }) =>
      [IPAddress, GlobalIPv6Address].filter((address) => address !== ''),
    ),
    anonymousVolumes: anonymousVolumes(info),
    pid: info.State.Pid > 0 ? info.State.Pid : null,
    hostsPath: info.HostsPath ? info.HostsPath : null,
  }
}

function anonymousVolumes({ Mounts }: Docker.ContainerInspectInfo): ContainerFacts['anonymousVolumes'] {
  return (Array.isArray(Mounts) ? Mounts : []).flatMap(({ Type, Name = '', Destination }) => {
    return Type === 'volume' && ANONYMOUS.test(Name) ? [{ name: Name, path: Destination }] : []
  })
}

/** Lists containers in pages, newest first: each entry repeats the container's whole command, and an answer has a size limit (HOST-108). */
async function listAll(docker: Docker, label: string[]): Promise<ListedContainer[]> {
  const listed: ListedContainer[] = []
  for (let before: string[] = []; ; ) {
    const part = await docker.listContainers({ all: true, limit: LIST_PART, filters: { label, ...(before.length > 0 && { before }) } })
    const last = part.at(-1)?.Id
    // An engine without paging repeats the same page.
    if (last === before[0]) return listed
    listed.push(...part.flatMap(readListed))
    if (part.length !== LIST_PART || last === undefined) return listed
    before = [last]
  }
}

/** Empty for a container without a name, for example a half-removed one. The declared type promises more than the engine sends. */
function readListed({ Names, Labels, State, NetworkSettings }: Partial<Docker.ContainerInfo>): ListedContainer[] {
  const name = Names?.[0]?.replace(/^\//, '')
  const networks = Object.keys(NetworkSettings?.Networks ?? {})
  return name === undefined ? [] : [{ name, labels: ownLabels(Labels), status: State ?? '', networks }]
}

/**
 * The labels that the agent has set. A container also has the labels of its image, which may take megabytes: more than a frame of the
 * engine process holds, so such a container could be neither inspected nor removed (HOST-70).
 */
export function ownLabels(labels: Readonly<Record<string, string>> | undefined): Record<string, string> {
  return Object.fromEntries(
    Object.entries(labels ?? {}).filter(([name, value]) => name.startsWith(OWN_LABELS) && value.length <= MAX_LABEL_CHARS),
  )
}

/** Parses a time; null for "never", which the engine writes as the first day of year 1. */
function parseTime(text: string): number | null {
  const ms = Date.parse(text)
  return ms > 0 ? ms : null
}
