import type { ContainerCreateOptions, MountSettings } from 'dockerode'
import type { Traffic } from '../runtime.ts'
import type { EngineFacts } from './engine-facts.ts'
import type { ExecStream } from './exec-stream.ts'
import type { NetworkCalls } from './networks.ts'

export type ContainerSpec = ContainerCreateOptions

/** A mount in the format of the container engine. */
export type EngineMount = MountSettings

/** A layer in a file, still compressed as it was received, with the length and digest of its uncompressed archive. */
export interface LayerFile {
  path: string
  tarBytes: number
  diffId: string
}

export interface ContainerFacts {
  name: string
  labels: Record<string, string>
  /** As the engine states it: created, running, paused, restarting, removing, exited, dead. */
  status: string
  /** Null: unknown. */
  exitCode: number | null
  outOfMemory: boolean
  /** By the engine's clock, milliseconds; null: never. */
  startedAtMs: number | null
  endedAtMs: number | null
  /** Its addresses in all networks that it is connected to; empty when it does not run. */
  addresses: string[]
  /** Volumes that the engine made because the image asks for them. */
  anonymousVolumes: { name: string; path: string }[]
  /** Process id of its main process; null: it does not run. */
  pid: number | null
  /** Path of its `/etc/hosts` on the engine's machine; null: it has none. */
  hostsPath: string | null
}

/** Facts about a container in the engine's list. */
export interface ListedContainer {
  name: string
  labels: Record<string, string>
  /** As in `ContainerFacts`. */
  status: string
  networks: string[]
}

/** Configuration of a container that an image made only of its files would lose. */
export type ContainerConfig = Pick<ContainerSpec, 'Env' | 'Cmd' | 'Entrypoint' | 'WorkingDir' | 'User' | 'StopSignal' | 'Healthcheck'>

/** Disk from which a container continues instead of the image of its workload. */
export interface RetainedDisk {
  image: string
  config: ContainerConfig
  mounts: EngineMount[]
}

/** Facts about an image in the engine's store. */
export interface ImageFacts {
  id: string
  /** Tags and digests, in the engine's short form. */
  names: string[]
  /** Digests of its unpacked layers, base layer first. */
  layers: string[]
}

/** An image that the agent has fetched, for the engine to load. It can be sent as JSON. */
export interface SavedImage {
  /** Image configuration, base64. */
  config: string
  /** Layers, base layer first; null: the engine has this layer. */
  layers: (LayerFile | null)[]
  /** Tag under which the engine stores it. */
  tag: string
}

/** Counters from one reading. */
export interface ContainerUsage {
  /** CPU time since the start, nanoseconds. */
  cpuNanos: number
  /** Time in which its CPU limit throttled it, since the start, nanoseconds. */
  throttledNanos?: number | undefined
  /** Without page cache that the kernel can free at once. */
  memoryBytes: number
  memoryLimitBytes: number
  /** Bytes through its networks and to and from disks; absent where the engine does not report them. */
  traffic?: Traffic | undefined
}

/** A command for a running container. */
export interface ExecSpec {
  command: readonly string[]
  /** `<name>=<value>` each, added to the container's own environment. */
  env: readonly string[]
  tty: boolean
}

export interface ExecFacts {
  running: boolean
  /** Null while it runs. */
  exitCode: number | null
}

/** The calls of the Docker Engine that the agent uses; tests substitute a fake. A container is identified by its name. */
export interface DockerEngine extends NetworkCalls {
  info(): Promise<EngineFacts>
  /** The image of this name; undefined: none. */
  imageFacts(image: string): Promise<ImageFacts | undefined>
  /** Loads an image into the engine's store. The engine itself connects to no registry. */
  load(image: SavedImage, signal: AbortSignal): Promise<void>
  create(name: string, spec: ContainerSpec): Promise<void>
  start(name: string): Promise<void>
  /** Writes files into a container; `archive` is a tar archive in base64, with paths from its root. */
  putFiles(name: string, archive: string): Promise<void>
  /** Contents of a file in a container; undefined when it does not exist, is not a regular file, or is longer than `maxBytes`. */
  readFile(name: string, path: string, maxBytes: number): Promise<string | undefined>
  inspect(name: string): Promise<ContainerFacts | undefined>
  /** Resolves when the container does not run; throws when the engine stops answering before that. */
  wait(name: string): Promise<void>
  stop(name: string, graceSeconds: number): Promise<void>
  /** Removes it with its anonymous volumes, except those that another container uses. */
  remove(name: string): Promise<void>
  /**
   * All containers, running or not, with all of these labels, each `<name>=<value>`; includes containers that the engine cannot inspect.
   */
  list(...labels: string[]): Promise<ListedContainer[]>
  /** For each container with this label, running or not: its image, and the labels that the agent has set. */
  listUses(label: string): Promise<{ image: string; labels: Record<string, string> }[]>
  /** The last lines of output, multiplexed as the engine sends them. */
  readLogs(name: string, lines: number): Promise<Buffer>
  /** Output with time stamps from a second on, in pieces as it comes; ends when the container does. */
  followLogs(name: string, sinceSeconds: number, signal: AbortSignal): Promise<AsyncIterable<Buffer>>
  /** One reading of a container's resource use; undefined when it does not run. */
  usage(name: string): Promise<ContainerUsage | undefined>
  /** Creates a command in a running container and returns its id. */
  createExec(name: string, spec: ExecSpec): Promise<string>
  /** Starts the command. Without a terminal its output is multiplexed as the engine sends it. */
  startExec(exec: string, tty: boolean): Promise<ExecStream>
  resizeExec(exec: string, rows: number, cols: number): Promise<void>
  inspectExec(exec: string): Promise<ExecFacts | undefined>
  /** Makes an image of an ended container: its image and its writes. `label` is `<name>=<value>`. */
  commit(name: string, image: { repository: string; tag: string; label: string }): Promise<void>
  /** Number of layers of a container's image. */
  countLayers(name: string): Promise<number>
  /** Makes an image with one layer of an ended container's files; returns the configuration that this image lacks. */
  flatten(name: string, image: { repository: string; tag: string; label: string }): Promise<ContainerConfig>
  /** Names, or ids where they have no name, of images with this label. */
  listImages(label: string): Promise<string[]>
  /** Images of a repository by name, with their unpacked size as the engine reports it. */
  listTags(repository: string): Promise<{ name: string; bytes: number }[]>
  removeImage(image: string): Promise<void>
  /** Gateway and subnet of the default bridge network, where the engine states them. */
  bridge(): Promise<{ gateway: string | undefined; subnet: string | undefined }>
}
