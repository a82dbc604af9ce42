import { execFileSync, spawn } from 'node:child_process'
import { closeSync, existsSync, mkdtempSync, openSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

export const CHECKOUT = join(import.meta.dirname, '../../..')
const KILL_WAIT_MS = 5_000
const POLL_MS = 50
/** Argument that marks a process of a built-in image, which runs the agent's own program. */
const BUILTIN = '\0__builtin\0'

/** A program that a row started. */
export interface Program {
  pid: number
  /** Standard output and error so far. */
  output(): string
  isRunning(): boolean
  signal(name: NodeJS.Signals): void
  /** Resolves with the exit code or the name of the signal. */
  ended: Promise<number | string>
}

export interface ProgramOptions {
  env?: Record<string, string>
  /** Working directory; by default the checkout. */
  cwd?: string
  /** A command prefix, such as `unshare --pid`. */
  within?: readonly string[]
}

/** A process in /proc. */
export interface SeenProcess {
  pid: number
  parent: number
  command: string
}

/**
 * The environment of one row: a directory with everything that the row creates. A process belongs to the row if the unique name of that
 * directory is in its arguments, environment, working directory or open files, so that orphans are found too, and other processes never
 * are.
 */
export class Lab {
  readonly dir: string
  readonly isShort: boolean
  private readonly undo: (() => void | Promise<void>)[] = []
  private programs = 0

  constructor(isShort: boolean) {
    this.isShort = isShort
    this.dir = mkdtempSync(join(tmpdir(), 'podplane-reliability-'))
  }

  path(...parts: string[]): string {
    return join(this.dir, ...parts)
  }

  /** Returns the smaller count with `--short`. */
  count(full: number, short: number): number {
    return this.isShort ? short : full
  }

  /** Prints the progress of a row. */
  say(text: string): void {
    process.stderr.write(`  ${new Date().toISOString().slice(11, 19)} ${text}\n`)
  }

  defer(undo: () => void | Promise<void>): void {
    this.undo.push(undo)
  }

  /** Starts Node with these arguments. Its output goes to a file, which needs no reader. */
  node(args: readonly string[], options: ProgramOptions = {}): Program {
    const [program = process.execPath, ...before] = [...(options.within ?? []), process.execPath]
    const file = this.path(`program-${++this.programs}.log`)
    const output = openSync(file, 'a')
    const child = spawn(program, [...before, ...args], {
      cwd: options.cwd ?? CHECKOUT,
      stdio: ['ignore', output, output],
      env: { ...cleanEnv(), PODPLANE_RELIABILITY: this.dir, ...options.env },
      detached: true,
    })
    closeSync(output)
    if (child.pid === undefined) throw new Error(`${program} cannot be started`)
    const ended = new Promise<number | string>((resolve) => child.once('exit', (code, signal) => resolve(code ?? signal ?? 'unknown')))
    return {
      pid: child.pid,
      output: () => readFileSync(file, 'utf8'),
      isRunning: () => child.exitCode === null && child.signalCode === null,
      signal: (name) => void child.kill(name),
      ended,
    }
  }

  /** Running processes of this row, including those of killed parents. */
  processes(): SeenProcess[] {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
      .flatMap((name) => this.seeIfOwn(Number(name)))
  }

  /** Processes that run the plane's runtime. */
  runtimes(): SeenProcess[] {
    return this.processes().filter(({ command }) => /workerd\0serve/.test(command))
  }
  /** Launchers of planes. */
  launchers(): SeenProcess[] {
    return this.processes().filter(({ command }) => command.includes('src/local/start.ts'))
  }
  agents(): SeenProcess[] {
    return this.processes().filter(({ command }) => command.includes('host-agent/main.ts') && !command.includes(BUILTIN))
  }
  workers(): SeenProcess[] {
    return this.processes().filter(({ command }) => command.includes(BUILTIN))
  }

  /** Kills everything that the row started and waits for its end. */
  async killAll(): Promise<void> {
    const deadline = performance.now() + KILL_WAIT_MS
    const killed = new Set<number>()
    for (;;) {
      const left = this.processes()
      for (const { pid } of left) {
        signalPid(pid, 'SIGKILL')
        killed.add(pid)
      }
      // A process that ends has no command line any more while its ports are still in use.
      if (left.length === 0 && ![...killed].some(isEnding)) return
      if (performance.now() > deadline)
        throw new Error(`these do not end: ${left.map(({ pid, command }) => `${pid} ${command}`).join(', ')}`)
      await sleep(POLL_MS)
    }
  }

  /** Removes everything: processes, mounts, loop devices, files. */
  async close(): Promise<void> {
    const faults: unknown[] = []
    const attempt = async (step: () => void | Promise<void>) => {
      try {
        await step()
      } catch (error) {
        faults.push(error)
      }
    }
    for (const undo of this.undo.reverse()) await attempt(undo)
    await attempt(() => this.killAll())
    for (const mount of this.mounts()) await attempt(() => void execFileSync('umount', ['--lazy', mount]))
    if (faults.length === 0) rmSync(this.dir, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
    else process.stderr.write(`left behind in ${this.dir}: ${faults.map(String).join('; ')}\n`)
  }

  private mounts(): string[] {
    const all = readFileSync('/proc/self/mounts', 'utf8').split('\n')
    return all.flatMap((line) => (line.split(' ')[1]?.startsWith(this.dir) ? [line.split(' ')[1] ?? ''] : [])).reverse()
  }

  private seeIfOwn(pid: number): SeenProcess[] {
    const folder = `/proc/${pid}`
    try {
      const [state = '', parent = '0'] = readFileSync(`${folder}/stat`, 'utf8')
        .replace(/^.*\) /s, '')
        .split(' ')
      if (state === 'Z') return []
      const command = readFileSync(`${folder}/cmdline`, 'utf8')
      const isOwn =
        command.includes(this.dir) ||
        readFileSync(`${folder}/environ`, 'utf8').includes(this.dir) ||
        readlinkSync(`${folder}/cwd`).startsWith(this.dir) ||
        readdirSync(`${folder}/fd`).some((fd) => linkOf(`${folder}/fd/${fd}`).startsWith(this.dir))
      return isOwn ? [{ pid, parent: Number(parent), command }] : []
    } catch {
      // The process has ended meanwhile.
      return []
    }
  }
}

/** Whether a killed process still exists: not ended, and not a zombie, which has no files and ports any more. */
function isEnding(pid: number): boolean {
  try {
    return !/^\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*(?=\) )/s, ''))
  } catch {
    return false
  }
}

/** Sends a signal; a process that has ended meanwhile is ignored. */
export function signalPid(pid: number, name: NodeJS.Signals): void {
  if (existsSync(`/proc/${pid}`)) {
    try {
      process.kill(pid, name)
    } catch {
      // The process has ended meanwhile.
    }
  }
}

/** Polls `probe` until it returns a value; undefined if it does not in time. */
export async function within<T>(
  timeoutMs: number,
  probe: () => Promise<T | undefined | false> | T | undefined | false,
  pollMs = POLL_MS,
): Promise<T | undefined> {
  const deadline = performance.now() + timeoutMs
  for (;;) {
    const found = await probe()
    if (found !== undefined && found !== false) return found
    if (performance.now() > deadline) return undefined
    await sleep(pollMs)
  }
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    return ''
  }
}

/** Removes npm's variables, which would make the launcher watch npm, and hides the machine's container engine. */
function cleanEnv(): NodeJS.ProcessEnv {
  const names = Object.keys(process.env).filter((name) => !/^(npm_|NODE_ENV|PORT$|PODPLANE_|MINIFLARE_)/.test(name))
  const env = Object.fromEntries(names.map((name) => [name, process.env[name]]))
  return { ...env, DOCKER_HOST: 'unix:///nonexistent/podplane-reliability.sock' }
}
