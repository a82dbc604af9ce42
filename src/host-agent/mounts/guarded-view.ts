import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, rmdirSync } from 'node:fs'
import { realpath, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { errorText } from '../../node/fail.ts'
import { findMount, readMounts } from '../machine/mount-list.ts'

/** Directory of the views; empty after a restart of the machine. */
const VIEWS = '/run/podplane'
const WANTED = ['nosuid', 'nodev']
const PROBLEM_MAX_CHARS = 150

const run = promisify(execFile)

/**
 * Views of volume directories for containers, mounted `nosuid,nodev`: set-user-id programs and device files in them have no effect, neither
 * in the container nor for other users of the machine (HOST-89). The engine takes no such options for a directory, but its bind mount
 * inherits those of the mount that the directory lies on. Where that mount lacks them, this class mounts a second view of the directory
 * with them.
 */
export class GuardedViews {
  private why: string | null

  /** Serializes calls: two that prepare the same view would unmount each other's. Agents of one machine have separate views. */
  private turn: Promise<unknown> = Promise.resolve()
  private readonly agent: string

  constructor(problem: string | null, agent = '') {
    this.why = problem
    this.agent = agent
  }

  /** Finds out whether this agent can mount views; `agent` distinguishes it from other agents of this machine. */
  static async open(agent: string): Promise<GuardedViews> {
    return new GuardedViews(await findProblem(), agent)
  }

  /** Reason why no views can be mounted; null: they can. */
  get problem(): string | null {
    return this.why
  }

  /** Stops the use of views: the engine is on another machine or in another mount namespace, and does not see what this process mounts. */
  giveUp(): void {
    this.why = 'the container engine does not see what the agent mounts'
  }

  /**
   * Path of the view of a directory; the directory itself where its mount has the options already or no views can be mounted. Throws when
   * mounting fails.
   */
  async of(directory: string): Promise<string> {
    const own = this.turn.then(() => this.provide(directory))
    this.turn = own.catch(() => {})
    return await own
  }

  private async provide(directory: string): Promise<string> {
    if (this.why !== null || isGuarded(await realpath(directory))) return directory
    const view = join(VIEWS, createHash('sha256').update(`${this.agent}\n${directory}`).digest('hex').slice(0, 16))
    if (await showsSame(view, directory)) return view
    mkdirSync(view, { recursive: true, mode: 0o700 })
    // A stale view shows what was mounted on the directory before.
    while (findMount(readMounts(), view)?.point === view) await run('umount', ['--lazy', view])
    await run('mount', ['--bind', directory, view])
    await run('mount', ['-o', `remount,bind,${WANTED.join(',')}`, view])
    return view
  }
}

async function findProblem(): Promise<string | null> {
  if (process.platform !== 'linux') return 'this system has no such mounts'
  if (process.getuid?.() !== 0) return 'the agent is not root'
  try {
    const probe = join(VIEWS, `trial-${process.pid}`)
    mkdirSync(probe, { recursive: true, mode: 0o700 })
    await run('mount', ['--bind', probe, probe])
    await run('umount', [probe])
    rmdirSync(probe)
    await sweep()
    return null
  } catch (error) {
    return errorText(error).slice(0, PROBLEM_MAX_CHARS)
  }
}

function isGuarded(path: string): boolean {
  const options = findMount(readMounts(), path)?.options ?? []
  return WANTED.every((option) => options.includes(option))
}

async function showsSame(view: string, directory: string): Promise<boolean> {
  const mount = findMount(readMounts(), view)
  if (mount?.point !== view || !WANTED.every((option) => mount.options.includes(option))) return false
  const [seen, real] = await Promise.all([stat(view), stat(directory)])
  return seen.dev === real.dev && seen.ino === real.ino
}

/** Unmounts the views of deleted directories. */
async function sweep(): Promise<void> {
  for (const { point, root } of readMounts()) {
    if (!point.startsWith(`${VIEWS}/`) || !root.endsWith('//deleted')) continue
    await run('umount', ['--lazy', point])
      .then(() => rmdirSync(point))
      // Another agent has removed it, or a process still uses it.
      .catch(() => {})
  }
}
