import type { ContainerCreateOptions } from 'dockerode'
import type { Workload } from '../../host-protocol/messages.ts'
import type { KernelFacts } from './kernel-facts.ts'

/** Facts about the machine that determine, together with the workload, the limits of a container. */
export interface ProfileFacts extends Omit<KernelFacts, 'inotifyMax'> {
  /** The engine's name for the runtime; undefined: its default. */
  engineRuntime: string | undefined
  realVcpus: number
  /** Whether the engine may raise limits above its own; an engine that itself runs in a container may not. */
  raisesLimits: boolean
}

type HostConfig = NonNullable<ContainerCreateOptions['HostConfig']>
/** The part of a container's settings that isolates and limits it, as the engine's API names it. */
export type ContainerProfile = Pick<
  HostConfig,
  'Runtime' | 'SecurityOpt' | 'CapDrop' | 'CapAdd' | 'PidsLimit' | 'Ulimits' | 'OomScoreAdj' | 'BlkioWeight'
> & { CgroupnsMode?: 'private' }

/**
 * Capabilities that ordinary images need inside their own container; all others are dropped. None reaches beyond the container's own files
 * and processes, and with user namespaces none has an effect outside. Of the engine's defaults these are left out: MKNOD, NET_RAW (a tenant
 * could answer for another's address), SETPCAP.
 */
export const CAPABILITIES = [
  // sshd and login write an audit record of each login, and fail where they cannot.
  'AUDIT_WRITE',
  // Package managers unpack files for other users, whatever their modes.
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'FSETID',
  // Supervisors kill children that run as another user.
  'KILL',
  // Web servers listen on ports 80 and 443, sshd on 22.
  'NET_BIND_SERVICE',
  // rpm unpacks programs with file capabilities; these have no effect under no-new-privileges.
  'SETFCAP',
  // su, setpriv, gosu, nginx and sshd change from root to another user.
  'SETGID',
  'SETUID',
  // sshd confines its part that handles unauthenticated clients to an empty directory.
  'SYS_CHROOT',
] as const

const PIDS_PER_VCPU = 1_024
const PIDS_MIN = 64
/** Share of the machine's process ids that all containers together may use. */
const PIDS_SHARE = 7 / 8
/**
 * Programs that close every possible file descriptor are slow with a high limit. The soft limit is low; a program can raise it to the hard
 * one.
 */
const OPEN_FILES = { soft: 65_536, hard: 1_048_576 }
const UNLIMITED = -1
/** When memory runs out, the kernel kills a container before the engine, the agent or any other program of the machine. */
const OOM_SCORE = 500
const BLOCK_IO_WEIGHT = { min: 10, max: 1_000 }

/**
 * Returns the isolation and limits of a container, independent of what its workload asks for (HOST-88). Seccomp is the engine's default.
 */
export function containerProfile({ vcpus, gpu }: Workload['resources'], facts: ProfileFacts): ContainerProfile {
  return {
    ...(facts.engineRuntime === undefined ? {} : { Runtime: facts.engineRuntime }),
    SecurityOpt: ['no-new-privileges'],
    CapDrop: ['ALL'],
    CapAdd: [...CAPABILITIES],
    ...(facts.cgroupNamespaces ? { CgroupnsMode: 'private' as const } : {}),
    PidsLimit: pidsLimit(vcpus, facts),
    Ulimits: [{ Name: 'core', Soft: 0, Hard: 0 }, ...(facts.raisesLimits ? raisedLimits(gpu !== null, facts.openFilesMax) : [])],
    OomScoreAdj: OOM_SCORE,
    // An engine whose kernel has no I/O weights ignores it.
    BlkioWeight: clamp(Math.round(BLOCK_IO_WEIGHT.max * shareOf(vcpus, facts)), BLOCK_IO_WEIGHT.min, BLOCK_IO_WEIGHT.max),
  }
}

function raisedLimits(hasGpu: boolean, openFilesMax: number) {
  const openFiles = Math.min(OPEN_FILES.hard, openFilesMax)
  return [
    { Name: 'nofile', Soft: Math.min(OPEN_FILES.soft, openFiles), Hard: openFiles },
    // CUDA pins memory for copies to and from a GPU; the container's memory limit counts it too.
    ...(hasGpu ? [{ Name: 'memlock', Soft: UNLIMITED, Hard: UNLIMITED }] : []),
  ]
}

/** Returns a limit by size that always leaves process ids for the machine itself and for other containers. */
function pidsLimit(vcpus: number, facts: ProfileFacts): number {
  const share = Math.floor(facts.pidMax * PIDS_SHARE * shareOf(vcpus, facts))
  return clamp(Math.ceil(PIDS_PER_VCPU * Math.max(1, vcpus)), PIDS_MIN, Math.max(PIDS_MIN, share))
}

/** Returns the share of the machine's vCPUs that a workload has. */
function shareOf(vcpus: number, { realVcpus }: ProfileFacts): number {
  return Math.min(1, Math.max(1, vcpus) / Math.max(1, realVcpus))
}

function clamp(value: number, min: number, max: number): number {
  return Math.min(max, Math.max(min, value))
}
