import { existsSync, readFileSync } from 'node:fs'

/** What the machine's kernel allows. */
export interface KernelFacts {
  cgroupNamespaces: boolean
  pidMax: number
  openFilesMax: number
  /** Inotify instances of one user; the kernel counts those of all containers to whoever made them, user namespaces or not. */
  inotifyMax: number
}

/** The kernel's own defaults, for a machine that does not say. */
const PID_MAX = 32_768
const OPEN_FILES_MAX = 1_048_576
const INOTIFY_MAX = 128

export function readKernelFacts(): KernelFacts {
  return {
    cgroupNamespaces: existsSync('/proc/self/ns/cgroup'),
    pidMax: readNumber('/proc/sys/kernel/pid_max') ?? PID_MAX,
    inotifyMax: readNumber('/proc/sys/fs/inotify/max_user_instances') ?? INOTIFY_MAX,
    openFilesMax: readNumber('/proc/sys/fs/nr_open') ?? OPEN_FILES_MAX,
  }
}

function readNumber(path: string): number | undefined {
  try {
    const value = Number(readFileSync(path, 'utf8'))
    return Number.isSafeInteger(value) && value > 0 ? value : undefined
  } catch {
    return undefined
  }
}
