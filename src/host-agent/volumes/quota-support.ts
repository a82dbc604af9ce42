import { readFileSync } from 'node:fs'
import { realpath } from 'node:fs/promises'
import { errorText } from '../../node/fail.ts'
import { boundedRun } from './bounded-run.ts'
import { ProjectQuotas } from './project-quotas.ts'

/** A mounted file system. */
export interface FileSystem {
  point: string
  type: string
  /** Options of the file system itself. */
  options: readonly string[]
}

const TOOLS = ['chattr', 'lsattr', 'setquota', 'repquota']
/** Mount options by which ext4 and XFS show that project quotas are counted and enforced. */
const ACCOUNTING = ['prjquota', 'pquota']
const TYPES = ['ext4', 'xfs']
const WITHIN_MS = 5_000

/** Returns the quotas of the file system of a directory, or the reason why there are none (HOST-112). */
export async function findQuotas(directory: string): Promise<ProjectQuotas | { problem: string }> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return { problem: 'the agent is not root on Linux' }
  try {
    const path = await realpath(directory)
    const system = fileSystemOf(readFileSync('/proc/self/mountinfo', 'utf8'), path)
    const problem = problemOf(system) ?? (await missingTool())
    return problem === null && system !== undefined ? new ProjectQuotas(path, system.point) : { problem: problem ?? 'it is not mounted' }
  } catch (error) {
    return { problem: errorText(error) }
  }
}

/** Returns the reason why a file system cannot enforce sizes; null: it can. */
export function problemOf(system: FileSystem | undefined): string | null {
  if (system === undefined) return 'its file system is not known'
  if (!TYPES.includes(system.type)) return `its file system is ${system.type}; project quotas are of ext4 and XFS`
  return system.options.some((option) => ACCOUNTING.includes(option)) ? null : `its ${system.type} is mounted without prjquota`
}

/**
 * Returns the file system of a path from the kernel's list of mounts: the one with the longest mount point, and of several at the same
 * point the last.
 */
export function fileSystemOf(mountinfo: string, path: string): FileSystem | undefined {
  let best: FileSystem | undefined
  for (const line of mountinfo.split('\n')) {
    const [mount = '', system = ''] = line.split(' - ')
    const point = decode(mount.split(' ')[4] ?? '')
    const [type = '', , options = ''] = system.split(' ')
    const isAround = point === '/' || path === point || path.startsWith(`${point}/`)
    if (point !== '' && isAround && point.length >= (best?.point.length ?? 0)) best = { point, type, options: options.split(',') }
  }
  return best
}

async function missingTool(): Promise<string | null> {
  for (const tool of TOOLS) {
    const found = await boundedRun('sh', ['-c', 'command -v "$0"', tool], { withinMs: WITHIN_MS })
    if (found?.code !== 0) return `${tool} is not installed (packages quota and e2fsprogs)`
  }
  return null
}

/** The kernel escapes separators as a backslash and three octal digits. */
function decode(word: string): string {
  return word.replace(/\\(\d{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)))
}
