import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, rmdirSync } from 'node:fs'
import { realpath, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { errorText } from '../../node/fail.ts'

/** Where the views are; gone after a restart of the machine. */
const VIEWS = '/run/podplane'
const WANTED = ['nosuid', 'nodev']
const PROBLEM_MAX_CHARS = 150

const run = promisify(execFile)

/** A line of the kernel's list of mounts. */
export interface MountLine {
  point: string
  /** What of its file system is mounted. */
  root: string
  options: readonly string[]
}

/**
 * Directories as containers are given them: files that are another user's program, or a device, mean nothing there, neither in the container nor
 * to whoever finds them on the machine (HOST-89). The engine takes no such options for a directory, but its mount has those of the mount that
 * the directory lies on. Where that one has none, a second view of the directory is mounted with them.
 */
export class GuardedViews {
  private why: string | null

  /** Two that prepare one view at a time would take it away from each other; agents of one machine have views of their own. */
  private turn: Promise<unknown> = Promise.resolve()
  private readonly agent: string

  constructor(problem: string | null, agent = '') {
    this.why = problem
    this.agent = agent
  }

  /** Finds out whether this agent may make views; `agent` is what tells it from others of this machine. */
  static async open(agent: string): Promise<GuardedViews> {
    return new GuardedViews(await findProblem(), agent)
  }

  /** Why there are none; null: there are. */
  get problem(): string | null {
    return this.why
  }

  /** The engine does not see what this process mounts: its machine, or its mounts, are others. */
  giveUp(): void {
    this.why = 'the container engine does not see what the agent mounts'
  }

  /** Where a directory is seen without them; the directory itself where that cannot be had. */
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
    // One that shows what was mounted on the directory before.
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
    const trial = join(VIEWS, `trial-${process.pid}`)
    mkdirSync(trial, { recursive: true, mode: 0o700 })
    await run('mount', ['--bind', trial, trial])
    await run('umount', [trial])
    rmdirSync(trial)
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

/** Views of directories that are no more. */
async function sweep(): Promise<void> {
  for (const { point, root } of readMounts()) {
    if (!point.startsWith(`${VIEWS}/`) || !root.endsWith('//deleted')) continue
    await run('umount', ['--lazy', point])
      .then(() => rmdirSync(point))
      // Another agent was here first, or somebody still looks.
      .catch(() => {})
  }
}

function readMounts(): MountLine[] {
  return parseMounts(readFileSync('/proc/self/mountinfo', 'utf8'))
}

export function parseMounts(text: string): MountLine[] {
  return text.split('\n').flatMap((line) => {
    const [, , , root, point, options] = line.split(' ')
    return root === undefined || point === undefined
      ? []
      : [{ point: decode(point), root: decode(root), options: options?.split(',') ?? [] }]
  })
}

/** The mount that a path lies on: the longest way to it, and of several on one place the last. */
export function findMount(mounts: readonly MountLine[], path: string): MountLine | undefined {
  const around = mounts.filter(({ point }) => point === '/' || path === point || path.startsWith(`${point}/`))
  return around.reduce<MountLine | undefined>(
    (best, next) => (best === undefined || next.point.length >= best.point.length ? next : best),
    undefined,
  )
}

/** The kernel writes what would end a word as three octal digits. */
function decode(word: string): string {
  return word.replace(/\\(\d{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)))
}
