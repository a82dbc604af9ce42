import { existsSync, readFileSync } from 'node:fs'

/** What the machine's kernel allows. */
export interface KernelFacts {
  cgroupNamespaces: boolean
  pidMax: number
  openFilesMax: number
}

/** The kernel's own defaults, for a machine that does not say. */
const PID_MAX = 32_768
const OPEN_FILES_MAX = 1_048_576

export function readKernelFacts(): KernelFacts {
  return {
    cgroupNamespaces: existsSync('/proc/self/ns/cgroup'),
    pidMax: readNumber('/proc/sys/kernel/pid_max') ?? PID_MAX,
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
