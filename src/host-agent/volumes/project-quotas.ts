import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { boundedRun } from './bounded-run.ts'

const KIB_PER_GB = 2 ** 20
const WITHIN_MS = 20_000
/** Lifetime of a cached report: one report covers all volumes of the file system. */
const REPORT_FRESH_MS = 10_000
/** First project id for volumes: lower ones belong to the operator and the container engine. */
const FIRST_PROJECT = 2 ** 30

/** The use that the file system has counted for a project. */
export interface Counted {
  bytes: number
  /** Whether a hard limit is set, above which writes are refused. */
  enforced: boolean
}

/**
 * Sizes of volumes, enforced by the file system: each directory is a project of its own (ext4, XFS), and files created in it belong to that
 * project (HOST-112). The project id is derived from the directory's inode, which no other existing directory of the file system has.
 */
export class ProjectQuotas {
  private readonly root: string
  private readonly point: string
  private report: { readAt: number; projects: Promise<ReadonlyMap<number, Counted>> } | undefined

  constructor(root: string, point: string) {
    this.root = root
    this.point = point
  }

  /**
   * Makes the directory of a new volume a project. False when it is none and has files: these would not count, and walking through a
   * tenant's files is not worth the risk, so its size stays a reservation.
   */
  async adopt(id: string): Promise<boolean> {
    const path = join(this.root, id)
    const wanted = await this.projectOf(path)
    if (wanted === undefined) return false
    if (await this.isProject(path, wanted)) return true
    const first = await boundedRun('find', [path, '-mindepth', '1', '-print', '-quit'], { withinMs: WITHIN_MS })
    if (first?.code !== 0 || first.stdout !== '') return false
    const made = await boundedRun('chattr', ['-p', String(wanted), '+P', '--', path], { withinMs: WITHIN_MS })
    // Removes the limit of an earlier directory with the same project id.
    return made?.code === 0 && (await this.setLimit(wanted, 0))
  }

  /** Limits a volume to a size; false when the file system cannot limit it, or not this volume. */
  async limit(id: string, sizeGb: number): Promise<boolean> {
    if (!(await this.adopt(id))) return false
    const project = await this.projectOf(join(this.root, id))
    return project !== undefined && (await this.setLimit(project, sizeGb * KIB_PER_GB))
  }

  /** Returns the use of a volume; undefined when it is no project. */
  async counted(id: string): Promise<Counted | undefined> {
    const path = join(this.root, id)
    const project = await this.projectOf(path)
    if (project === undefined || !(await this.isProject(path, project))) return undefined
    return (await this.readReport()).get(project)
  }

  private async setLimit(project: number, kib: number): Promise<boolean> {
    const args = ['-P', String(project), '0', String(kib), '0', '0', this.point]
    const set = await boundedRun('setquota', args, { withinMs: WITHIN_MS })
    this.report = undefined
    return set?.code === 0
  }

  private async projectOf(path: string): Promise<number | undefined> {
    const found = await boundedRun('stat', ['-c', '%i %F', '--', path], { withinMs: WITHIN_MS })
    const [, inode] = /^(\d+) directory$/.exec(found?.stdout.trim() ?? '') ?? []
    return inode === undefined ? undefined : projectOfInode(inode)
  }

  private async isProject(path: string, project: number): Promise<boolean> {
    const shown = await boundedRun('lsattr', ['-pd', '--', path], { withinMs: WITHIN_MS })
    const [, number, flags = ''] = /^\s*(\d+)\s+(\S+)/.exec(shown?.stdout ?? '') ?? []
    return Number(number) === project && flags.includes('P')
  }

  private readReport(): Promise<ReadonlyMap<number, Counted>> {
    const now = performance.now()
    if (this.report === undefined || now - this.report.readAt > REPORT_FRESH_MS) {
      const read = boundedRun('repquota', ['-P', '-n', '-O', 'csv', this.point], { withinMs: WITHIN_MS })
      this.report = { readAt: now, projects: read.then((ended) => parseReport(ended?.stdout ?? '')) }
    }
    return this.report.projects
  }
}

/**
 * Returns a project id for an inode: the inode's number plus `FIRST_PROJECT` if it is small enough, as on most file systems, otherwise a
 * hash.
 */
export function projectOfInode(inode: string): number {
  const number = BigInt(inode)
  if (number < BigInt(FIRST_PROJECT)) return FIRST_PROJECT + Number(number)
  const digest = createHash('sha256').update(inode).digest()
  return FIRST_PROJECT + (digest.readUInt32BE() % FIRST_PROJECT)
}

/** Parses the output of `repquota -P -n -O csv`: kibibytes and limits by project. */
export function parseReport(csv: string): ReadonlyMap<number, Counted> {
  const projects = new Map<number, Counted>()
  for (const line of csv.split('\n')) {
    const [name = '', , , used, , hardLimit] = line.split(',')
    if (/^#\d+$/.test(name)) projects.set(Number(name.slice(1)), { bytes: Number(used) * 1024, enforced: Number(hardLimit) > 0 })
  }
  return projects
}
