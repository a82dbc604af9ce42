import { isIP } from 'node:net'
import { homedir, hostname } from 'node:os'
import { join, resolve } from 'node:path'
import {
  type GpuInventory,
  type PortRange,
  RUNTIME_CLASSES,
  RUNTIME_NAMES,
  type RuntimeClass,
  type RuntimeName,
} from '../host-protocol/messages.ts'
import { OperatorError } from '../node/fail.ts'
import { ensureDir } from '../node/make-dir.ts'
import { parseSimulatedGpus } from './gpus/simulated.ts'
import { LOG_LEVELS, type LogLevel } from './log.ts'
import { ENCRYPTION_MODES, type EncryptionMode } from './network/overlay/encryption/find-encryption.ts'
import { formatSubnet, parseSubnet } from './network/subnets.ts'
import { parsePlaneUrl } from './plane/http.ts'
import { type AllowedRegistries, parseAllowedRegistries } from './pulls/allowed-registries.ts'
import { LEAST_SPEED } from './pulls/pull-pace.ts'
import { parseDirectoryFlag, parseGlobalVolumes, parseNetworkVolumes, type SharedStorage } from './volumes/volume-flags.ts'

/** Flags as commander parses them. */
export interface Flags {
  url?: string
  insecurePlane?: boolean
  token?: string
  name?: string
  stateDir?: string
  runtime?: string[]
  runtimeClass?: string
  builtinImages?: boolean
  allowOldNvidiaToolkit?: boolean
  dataCenter?: string
  simulateGpus?: string
  volumeDir?: string
  networkVolumes?: string
  globalVolumes?: string
  registryAllow?: string[]
  localImages?: boolean
  imageSpace?: string
  pullSpeed?: string
  publicIp?: string
  httpIp: string
  overlayAddress?: string
  overlayEncryption: string
  allowNetwork?: string[]
  trustedTenants?: boolean
  portRange: string
  onExit: string
  onLeaseLoss: string
  workerTransport: string
  logLevel: string
  logFile?: string
}

export interface AgentOptions extends SharedStorage {
  planeUrl: string
  joinToken: string | undefined
  name: string
  stateDir: string
  /** Runtimes that must be available; undefined: process, and docker where the engine answers. */
  runtimes: ReadonlySet<RuntimeName> | undefined
  /** Kind of runtime that runs containers. */
  runtimeClass: RuntimeClass
  /** Offers GPUs with any version of the NVIDIA container toolkit. */
  allowOldNvidiaToolkit: boolean
  dataCenter: string | undefined
  simulatedGpus: GpuInventory[]
  /** Directory of the persistent volumes of pods. */
  volumeDir: string
  /** Registries that may be on private addresses, with those that the agent reaches without TLS. */
  allowedRegistries: AllowedRegistries
  /** Whether every tenant may run the images in the engine's own store. */
  localImages: boolean
  /** Disk space for images, bytes; undefined: half of the disk. */
  imageSpaceBytes: number | undefined
  /** Minimum speed of a registry, bytes per minute; 0: no minimum. */
  pullBytesPerMinute: number
  /** Address under which published ports are reached from outside. */
  publicIp: string | null
  /** Address on which `http` ports of containers are bound. */
  httpIp: string
  /** Address where other hosts reach this one; undefined: the address of the interface with the default route. */
  overlayAddress: string | undefined
  /** How traffic between hosts is encrypted. */
  overlayEncryption: EncryptionMode
  /** Private ranges that containers may reach, `<cidr>`. */
  allowNetworks: string[]
  /** The accounts of this host trust one another: the host takes several of them even where it cannot isolate them. */
  trustedTenants: boolean
  /** Host ports for container ports. */
  portRange: PortRange
  onExit: 'stop' | 'keep'
  onLeaseLoss: 'stop' | 'finish'
  /** How calls of workers reach the plane (CHN-20). */
  workerTransport: 'http' | 'channel'
  logLevel: LogLevel
  /** A file that this process rotates; undefined: the log goes to stderr. */
  logFile: string | undefined
}

const NAME_MAX_CHARS = 128
/** Lower ports are reserved for the machine. */
const PORT_MIN = 1_024
const PORT_MAX = 65_535

/** Checks all flags before anything is changed. Throws an `OperatorError` that names the first wrong flag and its allowed values. */
export function readOptions(flags: Flags, env: Record<string, string | undefined>): AgentOptions {
  if (flags.url === undefined)
    throw new OperatorError('--url is missing; pass the address of the plane, such as --url http://127.0.0.1:8787')
  const name = flags.name ?? hostname()
  if (name === '' || name.length > NAME_MAX_CHARS) throw new OperatorError(`--name must have 1 to ${NAME_MAX_CHARS} characters`)
  const joinToken = flags.token ?? env.PODPLANE_JOIN_TOKEN
  const stateDir = resolve(
    flags.stateDir ?? env.PODPLANE_AGENT_STATE ?? join(homedir(), '.podplane-agent', name.replace(/[^A-Za-z0-9._-]/g, '_')),
  )
  return {
    planeUrl: parsePlaneUrl(flags.url, flags.insecurePlane),
    joinToken: joinToken === '' ? undefined : joinToken,
    name,
    stateDir,
    runtimes: parseRuntimes(flags),
    runtimeClass: oneOf('--runtime-class', flags.runtimeClass ?? 'runc', RUNTIME_CLASSES),
    allowOldNvidiaToolkit: flags.allowOldNvidiaToolkit ?? false,
    dataCenter: flags.dataCenter,
    simulatedGpus: parseSimulatedGpus(flags.simulateGpus ?? ''),
    volumeDir: flags.volumeDir === undefined ? join(stateDir, 'volumes') : parseDirectoryFlag('--volume-dir', flags.volumeDir),
    networkVolumes: flags.networkVolumes === undefined ? undefined : parseNetworkVolumes(flags.networkVolumes),
    globalVolumes: flags.globalVolumes === undefined ? undefined : parseGlobalVolumes(flags.globalVolumes),
    allowedRegistries: parseAllowedRegistries(flags.registryAllow ?? [env.PODPLANE_REGISTRY_ALLOW ?? '']),
    localImages: flags.localImages ?? false,
    imageSpaceBytes: flags.imageSpace === undefined ? undefined : parseImageSpace(flags.imageSpace),
    pullBytesPerMinute: flags.pullSpeed === undefined ? LEAST_SPEED.bytesPerMinute : parsePullSpeed(flags.pullSpeed),
    publicIp: flags.publicIp === undefined ? null : parseIp('--public-ip', flags.publicIp),
    httpIp: parseIp('--http-ip', flags.httpIp),
    overlayAddress: flags.overlayAddress === undefined ? undefined : parseIpv4('--overlay-address', flags.overlayAddress),
    overlayEncryption: oneOf('--overlay-encryption', flags.overlayEncryption, ENCRYPTION_MODES),
    allowNetworks: (flags.allowNetwork ?? []).flatMap((list) => list.split(',')).map((text) => parseAllowed(text.trim())),
    trustedTenants: flags.trustedTenants === true,
    portRange: parsePortRange(flags.portRange),
    onExit: oneOf('--on-exit', flags.onExit, ['stop', 'keep'] as const),
    workerTransport: oneOf('--worker-transport', flags.workerTransport, ['http', 'channel'] as const),
    onLeaseLoss: oneOf('--on-lease-loss', flags.onLeaseLoss, ['stop', 'finish'] as const),
    logLevel: oneOf('--log-level', flags.logLevel, LOG_LEVELS),
    logFile: flags.logFile === undefined ? undefined : resolve(flags.logFile),
  }
}

/** Built-in images run outside any container, so they are off until the operator turns them on (HOST-91). */
function parseRuntimes({ runtime, builtinImages = false }: Flags): ReadonlySet<RuntimeName> | undefined {
  if (runtime === undefined) return builtinImages ? undefined : new Set(['docker'])
  const names = runtime.flatMap((value) => value.split(',')).map((value) => value.trim())
  const named = names.map((name) => oneOf('--runtime', name, RUNTIME_NAMES))
  return new Set([...named, ...(builtinImages ? (['process'] as const) : [])])
}

function parseIp(flag: string, text: string): string {
  // An address with a zone (`fe80::1%eth0`) means something on this machine only.
  if (isIP(text) === 0 || text.includes('%'))
    throw new OperatorError(`${flag} '${text}' is not an IP address; pass one such as 203.0.113.7, or leave it out`)
  return text
}

function parseIpv4(flag: string, text: string): string {
  if (isIP(text) !== 4) throw new OperatorError(`${flag} '${text}' is not an IPv4 address; pass one of this machine, such as 10.1.2.3`)
  return text
}

function parseAllowed(text: string): string {
  const subnet = parseSubnet(text)
  if (subnet === undefined)
    throw new OperatorError(`--allow-network '${text}' is not an IPv4 range; pass one such as 10.1.2.0/24, or a single address`)
  return formatSubnet(subnet)
}

function parseImageSpace(text: string): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text) * 1e9
  throw new OperatorError(`--image-space '${text}' is not a size; use whole GB, such as 200`)
}

function parsePullSpeed(text: string): number {
  if (/^\d{1,4}$/.test(text)) return Number(text) * 2 ** 20
  throw new OperatorError(`--pull-speed '${text}' is not a speed; use whole MiB per minute, such as 1, or 0 for no minimum`)
}

function parsePortRange(text: string): PortRange {
  const [, from, to] = /^(\d{1,5})-(\d{1,5})$/.exec(text) ?? []
  const range = { from: Number(from), to: Number(to) }
  const isRange = range.from >= PORT_MIN && range.to <= PORT_MAX && range.from <= range.to
  if (!isRange) throw new OperatorError(`--port-range '${text}' is not a port range from ${PORT_MIN} to ${PORT_MAX}; use <from>-<to>`)
  return range
}

function oneOf<T extends string>(flag: string, value: string, allowed: readonly T[]): T {
  const found = allowed.find((candidate) => candidate === value)
  if (found === undefined) throw new OperatorError(`${flag} '${value}' is unknown; use one of: ${allowed.join(', ')}`)
  return found
}

/** Creates the directories of the agent, readable by their owner only. Throws an `OperatorError` for one that cannot be written. */
export function createDirs({ stateDir, volumeDir }: AgentOptions): void {
  ensureDir(stateDir, '--state-dir')
  ensureDir(volumeDir, '--volume-dir')
}
