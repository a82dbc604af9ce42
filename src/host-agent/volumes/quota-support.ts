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
/** How ext4 and XFS say that they count by project, and keep to the limits. */
const ACCOUNTING = ['prjquota', 'pquota']
const TYPES = ['ext4', 'xfs']
const WITHIN_MS = 5_000

/** The quotas of the file system below a directory, or why there are none (HOST-112). */
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

/** Why a file system keeps nobody to a size; null: it does. */
export function problemOf(system: FileSystem | undefined): string | null {
  if (system === undefined) return 'its file system is not known'
  if (!TYPES.includes(system.type)) return `its file system is ${system.type}; project quotas are of ext4 and XFS`
  return system.options.some((option) => ACCOUNTING.includes(option)) ? null : `its ${system.type} is mounted without prjquota`
}

/** The file system that a path lies on, from the kernel's list of mounts: the one mounted nearest, of several in one place the last. */
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

/** The kernel writes what would end a word as three octal digits. */
function decode(word: string): string {
  return word.replace(/\\(\d{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)))
}
