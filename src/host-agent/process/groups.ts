import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Memory limit of one built-in program; none needs a quarter of it. */
const MEMORY_MAX_BYTES = 512 * 2 ** 20
const PIDS_MAX = 64
const NAME = 'podplane'

/** A file of a control group, the value written to it, and whether kernels may lack it. */
type Setting = readonly [file: string, value: number, optional?: true]
interface Hierarchy {
  dir: string
  settings: readonly Setting[]
}

/** The control groups of built-in programs, one for each, with limits on memory and processes (HOST-92). */
export class ProcessGroups {
  private readonly hierarchies: readonly Hierarchy[]

  private constructor(hierarchies: readonly Hierarchy[]) {
    this.hierarchies = hierarchies
  }

  /** Returns undefined where this process cannot create control groups. */
  static open(root = '/sys/fs/cgroup'): ProcessGroups | undefined {
    try {
      const hierarchies = findHierarchies(root)
      if (hierarchies === undefined) return undefined
      for (const { dir } of hierarchies) mkdirSync(dir, { recursive: true })
      prepareChildren(root)
      const groups = new ProcessGroups(hierarchies)
      groups.create('probe')
      groups.remove('probe')
      return groups
    } catch {
      return undefined
    }
  }

  /** Creates the group of a program. Throws when the kernel refuses. */
  create(id: string): void {
    for (const { dir, settings } of this.hierarchies) {
      const group = join(dir, id)
      mkdirSync(group, { recursive: true })
      for (const [file, value, optional] of settings) {
        if (optional !== true || existsSync(join(group, file))) writeFileSync(join(group, file), String(value))
      }
    }
  }

  /** Moves a process into the group; its children inherit the group. */
  enter(id: string, pid: number): void {
    for (const { dir } of this.hierarchies) writeFileSync(join(dir, id, 'cgroup.procs'), String(pid))
  }

  /** Removes a group. A group that still has processes stays until the next sweep. */
  remove(id: string): void {
    for (const { dir } of this.hierarchies) {
      try {
        rmdirSync(join(dir, id))
      } catch {
        // Already removed, or not empty yet.
      }
    }
  }

  sweep(): void {
    const ids = this.hierarchies.flatMap(({ dir }) => readdirSync(dir, { withFileTypes: true }).filter((entry) => entry.isDirectory()))
    for (const id of new Set(ids.map(({ name }) => name))) this.remove(id)
  }
}

/** Version 2 of control groups has one hierarchy for all resources, version 1 has one for each. */
function findHierarchies(root: string): Hierarchy[] | undefined {
  if (existsSync(join(root, 'cgroup.controllers'))) {
    const settings: Setting[] = [
      ['memory.max', MEMORY_MAX_BYTES],
      ['memory.swap.max', 0, true],
      ['pids.max', PIDS_MAX],
    ]
    return [{ dir: join(root, NAME), settings }]
  }
  if (!existsSync(join(root, 'memory')) || !existsSync(join(root, 'pids'))) return undefined
  const memory: Setting[] = [
    ['memory.limit_in_bytes', MEMORY_MAX_BYTES],
    ['memory.memsw.limit_in_bytes', MEMORY_MAX_BYTES, true],
  ]
  return [
    { dir: join(root, 'memory', NAME), settings: memory },
    { dir: join(root, 'pids', NAME), settings: [['pids.max', PIDS_MAX]] },
  ]
}

/** In version 2 a group must enable the controllers of its children. */
function prepareChildren(root: string): void {
  const control = join(root, NAME, 'cgroup.subtree_control')
  if (!existsSync(join(root, 'cgroup.controllers')) || /\bmemory\b.*\bpids\b/.test(readFileSync(control, 'utf8'))) return
  writeFileSync(control, '+memory +pids')
}
