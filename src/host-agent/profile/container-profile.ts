import type { ContainerCreateOptions } from 'dockerode'
import type { Workload } from '../../host-protocol/messages.ts'

/** What decides, beside its workload, how tightly a container is held. */
export interface ProfileFacts {
  /** The engine's name for the runtime; undefined: its default. */
  engineRuntime: string | undefined
  /** The kernel has namespaces for control groups. */
  cgroupNamespaces: boolean
  /** Most processes of the machine, and most files that one of them may open. */
  pidMax: number
  openFilesMax: number
  realVcpus: number
  /** The engine may set limits above its own; one that itself runs in a container, say, may not. */
  raisesLimits: boolean
}

type HostConfig = NonNullable<ContainerCreateOptions['HostConfig']>
export type ContainerProfile = Pick<
  HostConfig,
  'Runtime' | 'SecurityOpt' | 'CapDrop' | 'CapAdd' | 'PidsLimit' | 'Ulimits' | 'OomScoreAdj' | 'BlkioWeight'
> & { CgroupnsMode?: 'private' }

/**
 * Root's powers that ordinary images need inside their own container; everything else is dropped. None reaches beyond the container's own
 * files and processes, and with user namespaces none means anything outside. Not here, of what the engine gives by itself: MKNOD, NET_RAW
 * (a tenant could answer for another's address), SETPCAP.
 */
export const CAPABILITIES = [
  // sshd and login write a record of who came, and give up where they may not.
  'AUDIT_WRITE',
  // Package managers unpack files for other users, whatever their modes.
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'FSETID',
  // Supervisors end children that run as another user.
  'KILL',
  // Web servers listen on 80 and 443, sshd on 22.
  'NET_BIND_SERVICE',
  // rpm unpacks programs with capabilities in their files; they give nothing, as there are no new privileges.
  'SETFCAP',
  // su, setpriv, gosu, nginx, sshd: root becomes somebody else.
  'SETGID',
  'SETUID',
  // sshd locks the part of it that speaks to strangers up in an empty directory.
  'SYS_CHROOT',
] as const

const PIDS_PER_VCPU = 1_024
const PIDS_MIN = 64
/** Of the machine's processes, what all containers may have together. */
const PIDS_SHARE = 7 / 8
/** Programs that close all they might have open become slow with more; who needs more may ask for it. */
const OPEN_FILES = { soft: 65_536, hard: 1_048_576 }
const UNLIMITED = -1
/** When memory ends, the kernel ends a container before the engine, the agent, or anything else of the machine. */
const OOM_SCORE = 500
const BLOCK_IO_WEIGHT = { min: 10, max: 1_000 }

/** How a container is held, whatever its workload asks for (HOST-88). Seccomp is the engine's own default. */
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
    // An engine whose kernel knows no weights leaves it out by itself.
    BlkioWeight: clamp(Math.round(BLOCK_IO_WEIGHT.max * shareOf(vcpus, facts)), BLOCK_IO_WEIGHT.min, BLOCK_IO_WEIGHT.max),
  }
}

function raisedLimits(hasGpu: boolean, openFilesMax: number) {
  const openFiles = Math.min(OPEN_FILES.hard, openFilesMax)
  return [
    { Name: 'nofile', Soft: Math.min(OPEN_FILES.soft, openFiles), Hard: openFiles },
    // CUDA pins what it copies from and to a GPU; the limit of memory counts that too.
    ...(hasGpu ? [{ Name: 'memlock', Soft: UNLIMITED, Hard: UNLIMITED }] : []),
  ]
}

/** By its size, and never so many that the machine's own processes, or those of other containers, have no numbers left. */
function pidsLimit(vcpus: number, facts: ProfileFacts): number {
  const share = Math.floor(facts.pidMax * PIDS_SHARE * shareOf(vcpus, facts))
  return clamp(Math.ceil(PIDS_PER_VCPU * Math.max(1, vcpus)), PIDS_MIN, Math.max(PIDS_MIN, share))
}

/** The part of the machine that a workload has. */
function shareOf(vcpus: number, { realVcpus }: ProfileFacts): number {
  return Math.min(1, Math.max(1, vcpus) / Math.max(1, realVcpus))
}

function clamp(value: number, min: number, max: number): number {
  return Math.min(max, Math.max(min, value))
}
