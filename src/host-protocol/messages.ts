import { z } from 'zod'
import { hostText, withoutMachine } from './host-text.ts'
import { LogAccess } from './logs.ts'
import { Overlay, OverlayInventory, OverlayPlace, WorkloadFile } from './overlays.ts'
import { MachineStats, WorkloadStats } from './stats.ts'

/**
 * The protocol between a host agent and the plane. A second, private contract: versioned by `PROTOCOL_VERSION`, changed only by addition,
 * because agents are upgraded later than the plane.
 *
 * Paths (all under `/host/v1`):
 *   POST /enrol   join token → host id, epoch, access token (`enrolment.ts`)
 *   POST /token   self-signed assertion → access token (`enrolment.ts`)
 *   GET  /link    WebSocket; desired state down, hello and beats up
 *   GET  /tunnel  WebSocket; requests of the plane to workloads (`tunnel/frames.ts`)
 *   POST /events  workload state changes, repeated by the agent until acknowledged with 200
 *   POST /overlays which members of private networks reach one another (`overlays.ts`)
 *   POST /logs    lines of workloads, repeated by the agent until acknowledged by number (`logs.ts`)
 *   GET  /endpoints/{id}/channel WebSocket; takes, posts and pings of an endpoint's workers on this host (`worker-channel.ts`)
 *   POST /volumes use of shared volumes up; desired sizes and volumes to wipe down (`volumes.ts`)
 */
export const PROTOCOL_VERSION = 1

/**
 * Beat interval and host lease, milliseconds. The agent jitters the beat by ±20 % so that the hosts of a fleet do not beat at the same
 * time.
 */
export const BEAT_INTERVAL_MS = 5_000
export const HOST_LEASE_MS = 30_000

/** Maximum size of a message that an agent accepts over its link. */
export const MESSAGE_MAX_BYTES = 32 * 2 ** 20

/** Identifies the agent process that opens a link, so that a reconnecting agent is distinguished from a second one (HOST-77). */
export const AGENT_PROCESS_HEADER = 'podplane-agent-process'

export const GpuInventory = z.object({
  /** Catalog id, such as "NVIDIA L4". */
  typeId: hostText(128, 1),
  count: z.number().int().min(1).max(1024),
  memoryMb: z.number().int().min(0),
  driverVersion: hostText(64).nullable(),
  cudaVersion: hostText(16).nullable(),
  simulated: z.boolean(),
})
export type GpuInventory = z.infer<typeof GpuInventory>

/** Host ports on which an agent publishes container ports by default. */
export const DEFAULT_PORT_RANGE = { from: 30_000, to: 32_767 } as const

const Port = z.number().int().min(1).max(65_535)
export const PortRange = z.object({ from: Port, to: Port })
export type PortRange = z.infer<typeof PortRange>

/** Container runtimes by isolation: with `runc`, containers share the machine's kernel; with the others they have a kernel of their own. */
export const RUNTIME_CLASSES = ['runc', 'runsc', 'kata'] as const
export const RuntimeClass = z.enum(RUNTIME_CLASSES)
export type RuntimeClass = z.infer<typeof RuntimeClass>

/** Isolation of workloads from the machine and from one another (HOST-87); absent fields are unknown. */
export const Isolation = z.object({
  runtimeClass: RuntimeClass.optional(),
  /** Whether root inside a container is an unprivileged user of the machine. */
  userNamespaces: z.boolean().optional(),
  /** Protections that this host cannot enforce, one text each, described for its operator. */
  missing: z.array(hostText(300, 1)).max(32).optional(),
  /** Whether containers are cut off from those of other accounts, from the host and from the private network behind it. */
  network: z.boolean().optional(),
  /** The reason why they are not. */
  networkReason: hostText(300).nullable().optional(),
  /** The operator states that the accounts of this host trust one another (`--trusted-tenants`). */
  trustedTenants: z.boolean().optional(),
})
export type Isolation = z.infer<typeof Isolation>

/** Ways in which an agent runs workloads: containers of an engine, or processes for built-in images. */
export const RUNTIME_NAMES = ['docker', 'process'] as const
export type RuntimeName = (typeof RUNTIME_NAMES)[number]

export const Inventory = z.object({
  agentVersion: hostText(64),
  protocolVersion: z.number().int(),
  os: hostText(128),
  vcpus: z.number().int().min(1).max(65536),
  memoryMb: z.number().int().min(1),
  diskGb: z.number().int().min(1),
  gpus: z.array(GpuInventory).max(64),
  /** Runtimes that answer on this host. */
  runtimes: z.array(z.enum(RUNTIME_NAMES)).max(8),
  /** True when any capacity above is simulated (`--simulate-gpus`). */
  simulated: z.boolean(),
  /** Address at which published ports are reached from outside; null or absent: unknown. */
  publicIp: z.union([z.ipv4(), z.ipv6()]).nullable().optional(),
  /** Host ports on which container ports are published; absent: `DEFAULT_PORT_RANGE`. */
  portRange: PortRange.optional(),
  /** Kinds of shared volumes that the operator has set up here; absent: unknown (older agent). */
  sharedVolumes: z
    .array(z.enum(['network', 'global']))
    .max(8)
    .optional(),
  /** Kinds of volumes whose sizes a file system enforces (HOST-112); absent: unknown (older agent). */
  sizesEnforced: z
    .array(z.enum(['persistent', 'network']))
    .max(8)
    .optional(),
  /** Absent: an older agent, whose containers run in `runc`. */
  isolation: Isolation.optional(),
  /** Absent: an agent without private networks across hosts. */
  overlay: OverlayInventory.optional(),
  /** The reason why the agent's own disk cannot be written (HOST-172); null: it can. Absent: unknown (older agent). */
  diskProblem: hostText(300).nullable().optional(),
})
export type Inventory = z.infer<typeof Inventory>

/** A directory that is mounted into a container (MNT-1). */
export const WorkloadMount = z.object({
  /** `persistent`: on this host, for this pod. `network`: shared in the data center. `global`: a bucket, shared by all data centers. */
  kind: z.enum(['persistent', 'network', 'global']),
  /** Id of the pod or of the volume; it names the directory, volume or bucket prefix on the host. */
  id: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/),
  /** Absolute path inside the container. */
  path: z.string().min(1).max(4096),
  /** Size of a persistent volume in GB. */
  sizeGb: z.number().int().min(1).optional(),
})
export type WorkloadMount = z.infer<typeof WorkloadMount>

const AccountId = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/)

/** The desired state of one container (or built-in process) of a host. */
export const Workload = z.object({
  /** Never reused: a container is never restarted under the same id. */
  id: z.string().min(1).max(64),
  kind: z.enum(['worker', 'pod']),
  /**
   * `running`: start it. `held`: stop it (after `stopGraceMs`), report `exited` and retain its disk. `stopped`: stop it, remove it and
   * report `gone`.
   */
  desired: z.enum(['running', 'held', 'stopped']),
  stopGraceMs: z.number().int().min(0).max(600_000),
  /** The owner: containers of one account share a network of their own. Absent: a network for this container alone. */
  account: AccountId.optional(),
  /** The account whose share of this host it uses: images, pulls, ports and connections (SHR-40). Absent: `account`. */
  payer: AccountId.optional(),
  image: z.string().min(1).max(1024),
  /** In exec form; empty arrays leave the image's own. */
  entrypoint: z.array(z.string()),
  cmd: z.array(z.string()),
  env: z.record(z.string(), z.string()),
  /** Variables of the platform. The text `{{relay_url}}` in a value is replaced by the agent's relay origin for that runtime. */
  platformEnv: z.record(z.string(), z.string()),
  /** Container ports to publish on a host port, `<port>/tcp` or `<port>/http`. */
  ports: z.array(z.string()),
  resources: z.object({
    vcpus: z.number().min(0),
    memoryMb: z.number().int().min(0),
    diskGb: z.number().int().min(0),
    gpu: z.object({ typeId: z.string(), count: z.number().int().min(1) }).nullable(),
  }),
  /** Allows this host to send the log of the workload. Absent: its output is not sent. */
  log: LogAccess.optional(),
  /** Previous workloads of the same pod, newest first: they must have stopped before this one starts. */
  replaces: z.array(z.string().min(1).max(64)).optional(),
  /**
   * Continue with the writable layer of the newest workload of `replaces` that has a container (POD-14); that workload is `gone` once this
   * one runs.
   */
  keepDisk: z.boolean().optional(),
  mounts: z.array(WorkloadMount).max(8).optional(),
  /** Networks across hosts in which it has an interface; the message's `overlays` describes them. */
  overlays: z.array(OverlayPlace).max(8).optional(),
  /**
   * Prepare everything (image, networks, and connections to the other members) but do not start it yet; the plane omits this field once all
   * members are ready. An older agent ignores it and starts at once.
   */
  prepare: z.boolean().optional(),
  /** Written into the container before it starts. */
  files: z.array(WorkloadFile).max(16).optional(),
  /** With `stopped`: the pod's persistent volume is removed too (POD-18). */
  wipe: z.boolean().optional(),
  /** Health check of a workload that serves requests of the plane through the tunnel (LB-7). */
  health: z.object({ port: Port, path: z.string().startsWith('/').max(1024) }).optional(),
  /** Credential for pulling the image, and the registry that it may be sent to (HOST-94). */
  registryAuth: z.object({ username: z.string(), password: z.string(), host: z.string().optional() }).optional(),
})
export type Workload = z.infer<typeof Workload>

/**
 * pulling → starting → running → exited; `error` when it could not be started (image missing, no runtime, engine refused).
 * `gone`: the agent runs nothing under this id and has nothing of it; the plane may free its capacity.
 */
export const WorkloadState = z.enum(['pulling', 'starting', 'running', 'exited', 'error', 'gone'])
export type WorkloadState = z.infer<typeof WorkloadState>

/** Result of a workload's health check. */
export const WorkloadHealth = z.enum(['initialising', 'healthy', 'failing'])
export type WorkloadHealth = z.infer<typeof WorkloadHealth>

const Reported = z.object({
  workloadId: z.string(),
  state: WorkloadState,
  /** Exit code of the main process; null while it has none. */
  exitCode: z.number().int().nullable(),
  /** Human-readable cause, such as "image pull failed: …" or "killed by signal SIGKILL"; no secrets. */
  reason: hostText(2048).nullable(),
  /**
   * Its host, agent or container engine ended it, or ended with it: the program is not the cause (LSE-21). Absent from agents that do not
   * report it.
   */
  endedByHost: z.boolean().optional(),
  /** Time of the change, milliseconds since the epoch, by the host's estimate of the plane's clock; the plane orders by `sequence`. */
  at: z.number(),
  /** Increases for each workload, so that a late repetition has no effect. */
  sequence: z.number().int(),
  ports: z.array(z.object({ private: z.number().int(), public: z.number().int(), type: z.string() })).optional(),
  /** For a running workload with a health check; `reason` says why it is not healthy. */
  health: WorkloadHealth.optional(),
})

/**
 * After an exit, `reason` may quote the program and belongs to the tenant; in all other states it is about the machine, whose paths and
 * addresses are removed (EDG-6).
 */
export const WorkloadReport = Reported.transform((report) =>
  report.reason === null || report.state === 'exited' ? report : { ...report, reason: withoutMachine(report.reason) },
)
export type WorkloadReport = z.infer<typeof WorkloadReport>

export const EventsRequest = z.object({ reports: z.array(WorkloadReport).min(1).max(128) })
export type EventsRequest = z.infer<typeof EventsRequest>

/** A problem of one GPU, or of all of them (`index` null). */
export const GpuProblem = z.object({
  index: z.number().int().min(0).max(1024).nullable(),
  uuid: hostText(64).nullable(),
  /** Must be identical as long as the problem is the same: a different text counts as a new problem. */
  problem: hostText(200, 1),
})
export type GpuProblem = z.infer<typeof GpuProblem>

/** Maximum number of endpoints whose transport a beat reports. */
export const MAX_TRANSPORTS = 1_024
const WorkerTransport = z.object({ endpoint: z.string().max(64), transport: z.enum(['channel', 'http']) })
export type WorkerTransport = z.infer<typeof WorkerTransport>

/** Agent → plane over the link. */
export const AgentMessage = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('hello'),
    inventory: Inventory,
    workloads: z.array(WorkloadReport),
    /** Accepts the desired state in parts; absent: the agent needs all of it in one message. */
    takesParts: z.boolean().optional(),
  }),
  /** Requests the part of the desired state that follows this workload (HOST-71); null: the first part. */
  z.object({ type: z.literal('more'), after: z.string().max(64).nullable() }),
  z.object({
    type: z.literal('beat'),
    /** Number of this beat on this link. */
    beat: z.number().int(),
    /** Revision of the last applied desired state. */
    appliedRevision: z.number().int(),
    sentAt: z.number(),
    workloads: z.array(z.object({ id: z.string(), state: WorkloadState })),
    /** Use of running workloads. */
    stats: z.array(WorkloadStats).max(1_024).optional(),
    machine: MachineStats.optional(),
    cpuPercent: z.number().optional(),
    memoryPercent: z.number().optional(),
    /** All problems of the GPUs; sent in the first beat of a link and after each change, otherwise absent. */
    gpuHealth: z.array(GpuProblem).max(64).optional(),
    /** How the calls of workers reach the plane, by endpoint (CHN-27). */
    transports: z.array(WorkerTransport).max(MAX_TRANSPORTS).optional(),
  }),
])
export type AgentMessage = z.infer<typeof AgentMessage>

/** Plane → agent over the link. */
export const PlaneMessage = z.discriminatedUnion('type', [
  /** A complete desired state or a part of one; the agent ignores a revision lower than the last one it applied in this epoch. */
  z.object({
    type: z.literal('desired'),
    revision: z.number().int(),
    workloads: z.array(Workload),
    /** The workload after which this part begins; absent: the first part. Workloads are ordered by id. */
    after: z.string().optional(),
    /** More workloads follow; the agent requests the next part. */
    more: z.boolean().optional(),
    /** Maximum time that a job waits for a silent host, milliseconds; absent: the plane waits only the minimum (HOST-36). */
    silenceMaxMs: z.number().int().min(0).optional(),
    /** All networks across hosts that its workloads are in; only in the first part. */
    overlays: z.array(Overlay).max(1_024).optional(),
  }),
  z.object({ type: z.literal('beatAck'), beat: z.number().int() }),
  /** The host was removed or enrolled again elsewhere: stop all workloads and exit. */
  z.object({ type: z.literal('revoked'), reason: z.string() }),
])
export type PlaneMessage = z.infer<typeof PlaneMessage>

/** Placeholder inside `platformEnv` values. */
export const RELAY_URL_PLACEHOLDER = '{{relay_url}}'
/** Placeholder inside `platformEnv` values: the address of the host's published ports, empty when it has none. */
export const PUBLIC_IP_PLACEHOLDER = '{{public_ip}}'
