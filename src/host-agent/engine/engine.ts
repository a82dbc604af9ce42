import type { ContainerCreateOptions, MountSettings } from 'dockerode'
import { z } from 'zod'
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

const Time = z.number().nullable()
const Texts = z.array(z.string())
const Labels = z.record(z.string(), z.string())

export const ContainerFacts = z.object({
  name: z.string(),
  labels: Labels,
  /** As the engine states it: created, running, paused, restarting, removing, exited, dead. */
  status: z.string(),
  /** Null: unknown. */
  exitCode: z.number().int().nullable(),
  outOfMemory: z.boolean(),
  /** By the engine's clock, milliseconds; null: never. */
  startedAtMs: Time,
  endedAtMs: Time,
  /** Its addresses in all networks that it is connected to; empty when it does not run. */
  addresses: Texts,
  /** Volumes that the engine made because the image asks for them. */
  anonymousVolumes: z.array(z.object({ name: z.string(), path: z.string() })),
  /** Process id of its main process; null: it does not run. */
  pid: z.number().int().nullable(),
  /** Path of its `/etc/hosts` on the engine's machine; null: it has none. */
  hostsPath: z.string().nullable(),
})
export type ContainerFacts = z.infer<typeof ContainerFacts>

/** Facts about a container in the engine's list; `status` as in `ContainerFacts`. */
export const ListedContainer = z.object({ name: z.string(), labels: Labels, status: z.string(), networks: Texts })
export type ListedContainer = z.infer<typeof ListedContainer>

/** Configuration of a container that an image made only of its files would lose. */
export type ContainerConfig = Pick<ContainerSpec, 'Env' | 'Cmd' | 'Entrypoint' | 'WorkingDir' | 'User' | 'StopSignal' | 'Healthcheck'>

/** Disk from which a container continues instead of the image of its workload. */
export interface RetainedDisk {
  image: string
  config: ContainerConfig
  mounts: EngineMount[]
}

/** Facts about an image in the engine's store: its tags and digests in the engine's short form, and its unpacked layers, base layer first. */
export const ImageFacts = z.object({ id: z.string(), names: Texts, layers: Texts })
export type ImageFacts = z.infer<typeof ImageFacts>

export const ImageUse = z.object({ image: z.string(), labels: Labels })
export const Tag = z.object({ name: z.string(), bytes: z.number() })

/** An image that the agent has fetched, for the engine to load. It can be sent as JSON. */
export interface SavedImage {
  /** Image configuration, base64. */
  config: string
  /** Layers, base layer first; null: the engine has this layer. */
  layers: (LayerFile | null)[]
  /** Tag under which the engine stores it. */
  tag: string
}

const Total = z.number().optional()

/** Counters from one reading. */
export const ContainerUsage = z.object({
  /** CPU time since the start, nanoseconds. */
  cpuNanos: z.number(),
  /** Time in which its CPU limit throttled it, since the start, nanoseconds. */
  throttledNanos: Total,
  /** Without page cache that the kernel can free at once. */
  memoryBytes: z.number(),
  memoryLimitBytes: z.number(),
  /** Bytes through its networks and to and from disks; absent where the engine does not report them. */
  traffic: z.object({ received: Total, sent: Total, read: Total, written: Total }).optional(),
})
export type ContainerUsage = z.infer<typeof ContainerUsage>

/** A command for a running container. */
export interface ExecSpec {
  command: readonly string[]
  /** `<name>=<value>` each, added to the container's own environment. */
  env: readonly string[]
  tty: boolean
}

/** Facts about a command; `exitCode` is null while it runs. */
export const ExecFacts = z.object({ running: z.boolean(), exitCode: z.number().int().nullable() })
export type ExecFacts = z.infer<typeof ExecFacts>

/** Gateway and subnet of the default bridge network, where the engine states them. */
export const Bridge = z.object({ gateway: z.string().optional(), subnet: z.string().optional() })

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
  listUses(label: string): Promise<z.infer<typeof ImageUse>[]>
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
  listTags(repository: string): Promise<z.infer<typeof Tag>[]>
  removeImage(image: string): Promise<void>
  bridge(): Promise<z.infer<typeof Bridge>>
}
