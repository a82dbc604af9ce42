import { existsSync } from 'node:fs'
import { readTextFile } from '../../node/text-file.ts'

/** Limits and features of the machine's kernel. */
export interface KernelFacts {
  /** Whether the kernel has control-group namespaces. */
  cgroupNamespaces: boolean
  /** Maximum number of processes of the machine, and of open files of one process. */
  pidMax: number
  openFilesMax: number
  /** Inotify instances of one user; the kernel counts those of all containers for the user that created them, even with user namespaces. */
  inotifyMax: number
}

/** The kernel's own defaults, for a machine whose values cannot be read. */
const PID_MAX = 32_768
const OPEN_FILES_MAX = 1_048_576
const INOTIFY_MAX = 128

/** Reads the limits of the kernel from `/proc`; a missing file counts as the kernel's default. */
export function readKernelFacts(): KernelFacts {
  return {
    cgroupNamespaces: existsSync('/proc/self/ns/cgroup'),
    pidMax: readNumber('/proc/sys/kernel/pid_max') ?? PID_MAX,
    inotifyMax: readNumber('/proc/sys/fs/inotify/max_user_instances') ?? INOTIFY_MAX,
    openFilesMax: readNumber('/proc/sys/fs/nr_open') ?? OPEN_FILES_MAX,
  }
}

function readNumber(path: string): number | undefined {
  const value = Number(readTextFile(path))
  return Number.isSafeInteger(value) && value > 0 ? value : undefined
}
