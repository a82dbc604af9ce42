import type { ContainerCreateOptions } from 'dockerode'
import type { ExecStream } from '../../engine/exec-stream.ts'
import type { EngineMount } from '../../mounts/mount-driver.ts'
import type { NetworkCalls } from '../../network/engine-networks.ts'
import type { EngineFacts } from '../../profile/engine-facts.ts'
import type { LayerFile } from '../../pulls/layers/archive.ts'
import type { Traffic } from '../../runtime.ts'

export type ContainerSpec = ContainerCreateOptions

export interface ContainerFacts {
  name: string
  labels: Record<string, string>
  /** The engine's word: created, running, paused, restarting, removing, exited, dead. */
  status: string
  /** Null: nobody can tell. */
  exitCode: number | null
  outOfMemory: boolean
  /** By the engine's clock, milliseconds; null: never. */
  startedAtMs: number | null
  endedAtMs: number | null
  /** Where it speaks from, in all networks that it is connected to; none when it does not run. */
  addresses: string[]
  /** Volumes that the engine made because the image asks for them. */
  anonymousVolumes: { name: string; path: string }[]
  /** Of its main process; null: it does not run. */
  pid: number | null
  /** Where its file of names is on the engine's machine; null: it has none. */
  hostsPath: string | null
}

/** What the engine's list says of a container. */
export interface ListedContainer {
  name: string
  labels: Record<string, string>
  /** As in `ContainerFacts`. */
  status: string
  networks: string[]
}

/** How a container was configured, as far as an image made of its files alone would lose it. */
export type ContainerConfig = Pick<ContainerSpec, 'Env' | 'Cmd' | 'Entrypoint' | 'WorkingDir' | 'User' | 'StopSignal' | 'Healthcheck'>

/** What a container goes on with instead of the image of its workload. */
export interface KeptDisk {
  image: string
  config: ContainerConfig
  mounts: EngineMount[]
}

/** What the engine knows of an image. */
export interface ImageFacts {
  id: string
  /** Tags and digests, in the engine's short form. */
  names: string[]
  /** Digests of its unpacked layers, the lowest first. */
  layers: string[]
}

/** An image that the agent has fetched, for the engine to load. All of it can be said as JSON. */
export interface SavedImage {
  /** Its configuration, in base64. */
  config: string
  /** Its layers, the lowest first; null: the engine has that one. */
  layers: (LayerFile | null)[]
  /** What it is to be called. */
  tag: string
}

/** The totals of one reading. */
export interface ContainerUsage {
  /** CPU time since the start, nanoseconds. */
  cpuNanos: number
  /** How long its own bound held it back, since the start, nanoseconds. */
  throttledNanos?: number | undefined
  /** Without what the kernel would give back at once. */
  memoryBytes: number
  memoryLimitBytes: number
  /** What went through its networks and to and from disks; absent where the engine does not say. */
  traffic?: Traffic | undefined
}

/** A command to run in a container that runs. */
export interface ExecSpec {
  command: readonly string[]
  /** Each `<name>=<value>`, beside the container's own. */
  env: readonly string[]
  tty: boolean
}

export interface ExecFacts {
  running: boolean
  /** Null while it runs. */
  exitCode: number | null
}

/** The few calls of the Docker Engine that the agent makes; tests put a fake here. A container goes by its name. */
export interface DockerEngine extends NetworkCalls {
  info(): Promise<EngineFacts>
  /** The image that this name leads to; undefined: none. */
  imageFacts(image: string): Promise<ImageFacts | undefined>
  /** Takes an image in. The engine itself speaks to no registry. */
  load(image: SavedImage, signal: AbortSignal): Promise<void>
  create(name: string, spec: ContainerSpec): Promise<void>
  start(name: string): Promise<void>
  /** Writes files into a container; `archive` is a tar archive in base64, with paths from its root. */
  putFiles(name: string, archive: string): Promise<void>
  /** A file of a container; undefined: there is none, or it is no plain file, or longer than `maxBytes`. */
  readFile(name: string, path: string, maxBytes: number): Promise<string | undefined>
  inspect(name: string): Promise<ContainerFacts | undefined>
  /** Resolves when the container does not run any more; throws when the engine goes away meanwhile. */
  wait(name: string): Promise<void>
  stop(name: string, graceSeconds: number): Promise<void>
  /** With its anonymous volumes, unless another container has them too. */
  remove(name: string): Promise<void>
  /** All containers, running or not, with all of these labels, each `<name>=<value>`. One that cannot be looked at is listed all the same. */
  list(...labels: string[]): Promise<ListedContainer[]>
  /** The images of all containers, running or not, with this label, and the labels that the agent gave. */
  listUses(label: string): Promise<{ image: string; labels: Record<string, string> }[]>
  /** The last bytes of output, multiplexed as the engine sends them. */
  readLogs(name: string, lines: number): Promise<Buffer>
  /** Output with time stamps since a second, in pieces as it comes; ends when the container does. */
  followLogs(name: string, sinceSeconds: number, signal: AbortSignal): Promise<AsyncIterable<Buffer>>
  /** One reading of what a running container uses; undefined when it does not run. */
  usage(name: string): Promise<ContainerUsage | undefined>
  /** Prepares a command in a running container; its id is returned. */
  createExec(name: string, spec: ExecSpec): Promise<string>
  /** Starts it. Without a terminal its output is multiplexed as the engine sends it. */
  startExec(exec: string, tty: boolean): Promise<ExecStream>
  resizeExec(exec: string, rows: number, cols: number): Promise<void>
  inspectExec(exec: string): Promise<ExecFacts | undefined>
  /** Makes an image of an ended container: what it was made of and what it wrote. `label` is `<name>=<value>`. */
  commit(name: string, image: { repository: string; tag: string; label: string }): Promise<void>
  /** How many layers the image of a container has. */
  countLayers(name: string): Promise<number>
  /** Makes an image of one layer of an ended container's files; what else its image said is returned. */
  flatten(name: string, image: { repository: string; tag: string; label: string }): Promise<ContainerConfig>
  /** Names (or ids, of those that have lost their name) of images with this label. */
  listImages(label: string): Promise<string[]>
  /** Images of a repository by their names, and what the engine says that they take, unpacked. */
  listTags(repository: string): Promise<{ name: string; bytes: number }[]>
  removeImage(image: string): Promise<void>
  /** Gateway of the default bridge network, when the engine states it. */
  bridge(): Promise<{ gateway: string | undefined; subnet: string | undefined }>
}
