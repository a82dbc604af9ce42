import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createApiClient } from '../../../../src/client/client.ts'
import { demoFilePath, readDemoFile } from '../../../../src/local/data-dir.ts'
import { createJoinToken, waitForHost } from '../../../../src/local/demo.ts'
import { PROJECT_ROOT } from '../../../../src/local/paths.ts'
import { waitUntil } from '../../../support/time.ts'
import { pickPorts } from './ports.ts'

const READY_TIMEOUT_MS = 100_000
const STOP_TIMEOUT_MS = 60_000
const POLL_MS = 25

export interface StartOptions {
  env?: Record<string, string>
  args?: string[]
  /** Uses this data directory and leaves it behind; the default is a temporary one. */
  dataDir?: string
  /** Whether the data directory is removed with the plane, however often that was restarted; the default is whether it is a temporary one. */
  isTemporary?: boolean
  port?: number
  /** A group as in a terminal: a signal to the negative pid then reaches the launcher and the processes of its group. */
  ownProcessGroup?: boolean
}

/** A program that a test started, with its whole output. */
export interface Launched {
  process: ChildProcess
  output(): string
  /** Resolves when the program has ended, with its exit code or the name of its signal. */
  ended: Promise<number | NodeJS.Signals>
}

export interface TestPlane {
  url: string
  apiKey: string
  endpointId: string
  operatorKey: string
  dataDir: string
  port: number
  /** Milliseconds from the start of the program until it was ready. */
  readyMs: number
  output(): string
  pid: number
  ended: Promise<number | NodeJS.Signals>
  /** Sends a signal to the launcher alone and waits until it has ended. */
  kill(signal: NodeJS.Signals): Promise<number | NodeJS.Signals>
  /** Ends the plane and removes its temporary data directory. */
  stop(): Promise<void>
  /** Starts again on the same data directory and port; a running launcher is stopped first. */
  restart(options?: Pick<StartOptions, 'env' | 'args'>): Promise<TestPlane>
}

/** Runs the command of `npm start` and waits until it is ready. */
export async function startPlane(options: StartOptions = {}): Promise<TestPlane> {
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), 'podplane-e2e-'))
  const isTemporary = options.isTemporary ?? options.dataDir === undefined
  const port = options.port ?? (await pickPorts())
  const startedAt = performance.now()
  const launched = launch({ ...options, dataDir, port })
  const demo = await waitForDemo(launched, dataDir)
  const readyMs = performance.now() - startedAt
  const kill = async (signal: NodeJS.Signals) => {
    launched.process.kill(signal)
    return await within(STOP_TIMEOUT_MS, launched.ended, 'the plane did not end')
  }
  const end = async () => {
    if (isRunning(launched.process)) await kill('SIGINT')
  }
  return {
    ...demo,
    dataDir,
    port,
    readyMs,
    output: launched.output,
    pid: pidOf(launched.process),
    ended: launched.ended,
    kill,
    async stop() {
      await end()
      if (isTemporary) rmSync(dataDir, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
    },
    async restart(changes = {}) {
      await end()
      return await startPlane({ ...options, ...changes, dataDir, port, isTemporary })
    },
  }
}

/** Starts the launcher without waiting for it. */
export function launch(options: StartOptions & { dataDir: string; port: number }): Launched {
  const env = { PODPLANE_DATA: options.dataDir, PORT: String(options.port), ...options.env }
  return run(['src/local/start.ts', ...(options.args ?? [])], env, options.ownProcessGroup)
}

/** Waits for a host: on a busy machine a plane is ready before its own agent is online. */
export async function hostIsOnline(plane: Pick<TestPlane, 'url' | 'operatorKey'>): Promise<void> {
  await eventually('a host is online', READY_TIMEOUT_MS, async () => {
    const { hosts } = await callPlane<{ hosts: { status: string }[] }>(plane, plane.operatorKey, 'GET', '/admin/v1/hosts')
    return hosts.some(({ status }) => status === 'ONLINE')
  })
}

export interface TestAgent {
  name: string
  stateDir: string
  output(): string
  pid: number
  kill(signal: NodeJS.Signals): Promise<number | NodeJS.Signals>
  /** Ends the agent and its workloads. */
  stop(): Promise<void>
}

export interface StartAgentOptions {
  plane: Pick<TestPlane, 'url' | 'operatorKey'>
  name: string
  /** Undefined: built-in images, and Docker where its engine answers. */
  runtime?: string
  simulateGpus?: string
  dataCenter?: string
  /** Uses the identity in this directory; the default is a fresh one, enrolled with a new join token. */
  stateDir?: string
  /** Parent of the directory of a fresh identity. */
  stateParent?: string
  onExit?: 'stop' | 'keep'
  args?: string[]
  env?: Record<string, string>
  /** A command prefix of the agent's, which selects where it runs. */
  within?: readonly string[]
}

/** Runs one more host agent against a plane and waits until its host is online. */
export async function startAgent(options: StartAgentOptions): Promise<TestAgent> {
  const operator = createApiClient(options.plane.url, options.plane.operatorKey)
  const stateDir = options.stateDir ?? mkdtempSync(join(options.stateParent ?? tmpdir(), 'podplane-e2e-agent-'))
  const args = ['--url', options.plane.url, '--name', options.name, '--state-dir', stateDir, '--on-exit', options.onExit ?? 'stop']
  if (options.stateDir === undefined) args.push('--token', await createJoinToken(operator, options.name))
  args.push(...(options.runtime === undefined ? ['--builtin-images'] : ['--runtime', options.runtime]))
  if (options.simulateGpus !== undefined) args.push('--simulate-gpus', options.simulateGpus)
  if (options.dataCenter !== undefined) args.push('--data-center', options.dataCenter)
  // Images of the tests are built on this machine, and all of its accounts are trusted, whatever isolation it can enforce.
  args.push('--local-images', '--trusted-tenants')
  const startedAtMs = Date.now()
  const launched = run(['src/host-agent/main.ts', ...args, ...(options.args ?? [])], options.env ?? {}, false, options.within)
  const kill = async (signal: NodeJS.Signals) => {
    launched.process.kill(signal)
    return await within(STOP_TIMEOUT_MS, launched.ended, 'the agent did not end')
  }
  if (!(await waitForHost(operator, options.name, startedAtMs, READY_TIMEOUT_MS))) {
    await kill('SIGKILL')
    throw new Error(`the agent ${options.name} did not come online:\n${launched.output()}`)
  }
  return {
    name: options.name,
    stateDir,
    output: launched.output,
    pid: pidOf(launched.process),
    kill,
    async stop() {
      if (isRunning(launched.process)) await kill('SIGTERM')
      if (options.stateDir === undefined) rmSync(stateDir, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
    },
  }
}

/** Calls the REST or the operator API; throws on an answer that is not a success. */
export async function callPlane<T>(plane: Pick<TestPlane, 'url'>, key: string, method: string, path: string, body?: unknown): Promise<T> {
  // The caller states the shape, which the contract tests check field by field.
  return (await createApiClient(plane.url, key).request(method as 'GET', path, body)) as T
}

/** Polls until `probe` returns something. */
export function eventually<T>(what: string, timeoutMs: number, probe: () => Promise<T | undefined | false>, pollMs = POLL_MS): Promise<T> {
  return waitUntil(what, probe, timeoutMs, pollMs)
}

function run(args: readonly string[], env: Record<string, string>, ownProcessGroup = false, within: readonly string[] = []): Launched {
  const [program = process.execPath, ...before] = [...within, process.execPath]
  const child = spawn(program, [...before, ...args], {
    cwd: PROJECT_ROOT,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...cleanEnv(), ...env },
    detached: ownProcessGroup,
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk
    })
  }
  const ended = new Promise<number | NodeJS.Signals>((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code, signal) => resolve(code ?? signal ?? 'SIGKILL'))
  })
  return { process: child, output: () => output, ended }
}

// Tests run inside npm: a launcher that inherited npm's variables would watch the wrong parent, and vitest sets NODE_ENV.
function cleanEnv(): NodeJS.ProcessEnv {
  const { npm_lifecycle_event: _event, NODE_ENV: _mode, VITEST: _vitest, PORT: _port, PODPLANE_DATA: _data, ...env } = process.env
  return env
}

async function waitForDemo(launched: Launched, dataDir: string) {
  try {
    return await eventually('the plane is ready', READY_TIMEOUT_MS, async () => {
      if (!isRunning(launched.process)) throw new Error(`the plane ended before it was ready (${demoFilePath(dataDir)})`)
      return launched.output().includes('Ctrl-C stops everything') && readDemoFile(dataDir)
    })
  } catch (error) {
    launched.process.kill('SIGTERM')
    throw new Error(`${error instanceof Error ? error.message : String(error)}\n${launched.output()}`)
  }
}

async function within<T>(timeoutMs: number, promise: Promise<T>, failure: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(failure)), timeoutMs)
  })
  try {
    return await Promise.race([promise, timeout])
  } finally {
    clearTimeout(timer)
  }
}

function isRunning(child: ChildProcess): boolean {
  return child.exitCode === null && child.signalCode === null
}

function pidOf(child: ChildProcess): number {
  if (child.pid === undefined) throw new Error('the program was not started')
  return child.pid
}
