import { realpath } from 'node:fs/promises'
import { errorText } from '../../node/fail.ts'
import { findMount, type MountLine, readMounts } from '../machine/mount-list.ts'
import { missingTool } from './bounded-run.ts'
import { ProjectQuotas } from './project-quotas.ts'

const TOOLS = ['chattr', 'lsattr', 'setquota', 'repquota']
/** Mount options by which ext4 and XFS show that project quotas are counted and enforced. */
const ACCOUNTING = ['prjquota', 'pquota']
const TYPES = ['ext4', 'xfs']

/** Returns the quotas of the file system of a directory, or the reason why there are none (HOST-112). */
export async function findQuotas(directory: string): Promise<ProjectQuotas | { problem: string }> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return { problem: 'the agent is not root on Linux' }
  try {
    const path = await realpath(directory)
    const system = findMount(readMounts(), path)
    const problem = problemOf(system) ?? (await missingTool(TOOLS, 'quota and e2fsprogs'))
    return problem === null && system !== undefined ? new ProjectQuotas(path, system.point) : { problem: problem ?? 'it is not mounted' }
  } catch (error) {
    return { problem: errorText(error) }
  }
}

/** Returns the reason why a file system cannot enforce sizes; null: it can. */
export function problemOf(system: Pick<MountLine, 'type' | 'systemOptions'> | undefined): string | null {
  if (system === undefined) return 'its file system is not known'
  if (!TYPES.includes(system.type)) return `its file system is ${system.type}; project quotas are of ext4 and XFS`
  return system.systemOptions.some((option) => ACCOUNTING.includes(option)) ? null : `its ${system.type} is mounted without prjquota`
}
