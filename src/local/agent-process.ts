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
  /** Only for the first enrolment; an agent with an identity needs none. */
  joinToken: string | undefined
  simulateGpus: string | undefined
  networkVolumes: string
  globalVolumes: string
  log: LogFile
  echoLog: boolean
  onProcess(pid: number): void
  /** The agent ended by itself and will be started again after `delayMs`. */
  onCrash(reason: string, delayMs: number): void
}

export interface AgentProcess {
  /** Asks the agent to stop its workloads and end; kills it when it takes too long. Resolves with whether it ended by itself. */
  stop(): Promise<boolean>
  kill(): void
}

const FIRST_RESTART_DELAY_MS = 1_000
const MAX_RESTART_DELAY_MS = 30_000
/** An agent that ran this long was healthy: its next restart begins with the first delay again. */
const HEALTHY_AFTER_MS = 60_000
/** The agent stops containers with their own grace; what remains after this is killed. */
const STOP_TIMEOUT_MS = 30_000
const TAIL_BYTES = 4_096
const TAIL_LINES = 8

/** Runs the host agent as a child process and starts it again when it dies. */
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
  // Whoever tries a pod on this machine reaches its ports from this machine.
  args.push('--public-ip', '127.0.0.1')
  // Somebody who tries the platform needs no Docker for it.
  args.push('--builtin-images')
  // Its accounts are those of one person; where the machine can keep containers apart, it does.
  args.push('--trusted-tenants')
  // Whoever builds an image on this machine wants to run it here.
  args.push('--local-images')
  args.push('--network-volumes', options.networkVolumes, '--global-volumes', options.globalVolumes)
  if (options.simulateGpus !== undefined) args.push('--simulate-gpus', options.simulateGpus)
  // The log is the child's own file and not a pipe of ours: the agent has to survive this process being killed. What it says as it dies has
  // another one, which begins anew with each process: two writers of one file that rotates would part.
  const file = options.echoLog ? undefined : openSync(deathFileOf(options.log.path), 'w', 0o600)
  if (!options.echoLog) args.push('--log-file', options.log.path)
  const child = spawn(process.execPath, [join(PROJECT_ROOT, 'src/host-agent/main.ts'), ...args], {
    stdio: ['ignore', file ?? 'pipe', file ?? 'pipe'],
    // Not as an argument: every user of the machine can read those.
    ...(options.joinToken === undefined ? {} : { env: { ...process.env, PODPLANE_JOIN_TOKEN: options.joinToken } }),
    // Its own process group, so that Ctrl-C reaches it through us alone and after the steps that have to come before.
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

/** Where the agent's process writes what is no line of its log, as the reason why it ends. */
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
