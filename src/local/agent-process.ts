import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { LogFile } from './log-file.ts'
import { PROJECT_ROOT } from './paths.ts'

export interface AgentOptions {
  url: string
  stateDir: string
  name: string
  /** For the first enrolment only; an enrolled agent needs none. */
  joinToken: string | undefined
  simulateGpus: string | undefined
  networkVolumes: string
  globalVolumes: string
  log: LogFile
  echoLog: boolean
  onProcess(pid: number): void
  /** Called when the agent has ended by itself; it is restarted after `delayMs`. */
  onCrash(reason: string, delayMs: number): void
}

/** The agent that `npm start` runs as a child process. */
export interface AgentProcess {
  /** Asks the agent to stop its workloads and exit, and kills it after a timeout. Resolves with whether it exited by itself. */
  stop(): Promise<boolean>
  kill(): void
}

const FIRST_RESTART_DELAY_MS = 1_000
const MAX_RESTART_DELAY_MS = 30_000
/** An agent that ran this long was healthy: its next restart uses the first delay again. */
const HEALTHY_AFTER_MS = 60_000
/** The agent stops containers with their own grace period; after this time it is killed. */
const STOP_TIMEOUT_MS = 30_000
const TAIL_BYTES = 4_096
const TAIL_LINES = 8

/** Runs the host agent as a child process and restarts it when it ends. */
export function startAgent(options: AgentOptions): AgentProcess {
  let child: ChildProcess | undefined
  let stopping = false
  let timer: NodeJS.Timeout | undefined
  let delay = FIRST_RESTART_DELAY_MS

  const run = () => {
    const startedAt = Date.now()
    child = spawnAgent(options)
    if (child.pid !== undefined) options.onProcess(child.pid)
    child.once('exit', (code, signal) => {
      child = undefined
      if (stopping) return
      delay = Date.now() - startedAt > HEALTHY_AFTER_MS ? FIRST_RESTART_DELAY_MS : Math.min(delay * 2, MAX_RESTART_DELAY_MS)
      const words = [options.log.path, deathFileOf(options.log.path)].map(tailOf).filter((text) => text.trim() !== '')
      options.onCrash([`ended with ${signal ?? `code ${code}`}:`, ...words].join('\n'), delay)
      timer = setTimeout(run, delay)
    })
  }
  run()

  return {
    kill: () => child?.kill('SIGKILL'),
    async stop() {
      stopping = true
      clearTimeout(timer)
      return child === undefined || (await terminate(child))
    },
  }
}

function spawnAgent(options: AgentOptions): ChildProcess {
  const args = ['--url', options.url, '--name', options.name, '--state-dir', options.stateDir, '--on-exit', 'stop']
  // A user who tries a pod on this machine reaches its ports from this machine.
  args.push('--public-ip', '127.0.0.1')
  // Built-in images, so that a user can try the platform without Docker.
  args.push('--builtin-images')
  // All accounts of this machine belong to one person; where the machine can isolate containers, the agent still does.
  args.push('--trusted-tenants')
  // A user who builds an image on this machine wants to run it here.
  args.push('--local-images')
  args.push('--network-volumes', options.networkVolumes, '--global-volumes', options.globalVolumes)
  if (options.simulateGpus !== undefined) args.push('--simulate-gpus', options.simulateGpus)
  // The child writes to its own log file, not to a pipe of this process, because it must survive this process. The reason for its exit goes
  // to a second file, which each process truncates: two writers of one rotating file would diverge.
  const file = options.echoLog ? undefined : openSync(deathFileOf(options.log.path), 'w', 0o600)
  if (!options.echoLog) args.push('--log-file', options.log.path)
  const child = spawn(process.execPath, [join(PROJECT_ROOT, 'src/host-agent/main.ts'), ...args], {
    stdio: ['ignore', file ?? 'pipe', file ?? 'pipe'],
    // Not as an argument, because every user of the machine can read arguments.
    ...(options.joinToken === undefined ? {} : { env: { ...process.env, PODPLANE_JOIN_TOKEN: options.joinToken } }),
    // Its own process group, so that Ctrl-C reaches it only through this process, after the steps that must come first.
    detached: true,
  })
  if (file !== undefined) closeSync(file)
  for (const stream of [child.stdout, child.stderr]) {
    if (stream !== null) createInterface({ input: stream }).on('line', (line) => options.log.write(line))
  }
  return child
}

function terminate(child: ChildProcess): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      child.kill('SIGKILL')
      resolve(false)
    }, STOP_TIMEOUT_MS)
    child.once('exit', () => {
      clearTimeout(timer)
      resolve(true)
    })
    child.kill('SIGTERM')
  })
}

/** The file for the agent's output outside its log, such as the reason for its exit. */
function deathFileOf(logPath: string): string {
  return `${logPath}.stderr`
}

function tailOf(path: string): string {
  if (!existsSync(path)) return ''
  const text = readFileSync(path).subarray(-TAIL_BYTES).toString('utf8').trimEnd()
  return text
    .split('\n')
    .slice(-TAIL_LINES)
    .map((line) => `    ${line}`)
    .join('\n')
}
