import { existsSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { type Lab, type Program, type ProgramOptions, within } from './lab.ts'

/** Limit after which a start counts as hanging, milliseconds; with many hosts a loaded machine needs most of a minute. */
export const START_LIMIT_MS = 120_000
const HEALTH_TIMEOUT_MS = 2_000
const CALL_TIMEOUT_MS = 30_000
const READY_POLL_MS = 50

export interface PlaneOptions extends ProgramOptions {
  dataDir: string
  port: number
  args?: readonly string[]
}

/** Access data of a plane for scripts (demo.json). */
export interface Demo {
  url: string
  apiKey: string
  endpointId: string
  operatorKey: string
}

export interface Plane extends Demo {
  program: Program
  options: PlaneOptions
  /** Milliseconds from its start until it answered. */
  readyMs: number
}

/** An answer; status 0 if there was none. */
export interface Answer {
  status: number
  body: Record<string, unknown>
  text: string
}

/** Starts the launcher, as `npm start` does, without waiting for it. */
export function launchPlane(lab: Lab, options: PlaneOptions): Program {
  rmSync(join(options.dataDir, 'demo.json'), { force: true })
  const env = { PODPLANE_DATA: options.dataDir, PORT: String(options.port), ...options.env }
  return lab.node(['src/local/start.ts', ...(options.args ?? [])], { ...options, env })
}

/** Waits until a launched plane answers; undefined if it does not in time, or has ended. */
export async function readyPlane(program: Program, options: PlaneOptions, limitMs = START_LIMIT_MS): Promise<Plane | undefined> {
  const startedAt = performance.now()
  const found = await within(
    limitMs,
    async () => {
      if (!program.isRunning()) return { demo: undefined }
      const demo = readDemo(options.dataDir)
      return demo !== undefined && (await isHealthy(options.port)) && { demo }
    },
    READY_POLL_MS,
  )
  if (found?.demo === undefined) return undefined
  return { ...found.demo, program, options, readyMs: performance.now() - startedAt }
}

/** Starts a plane that must become ready; otherwise the measurement itself has failed and this throws. */
export async function startPlane(lab: Lab, options: PlaneOptions): Promise<Plane> {
  const program = launchPlane(lab, options)
  const plane = await readyPlane(program, options)
  if (plane === undefined) throw new Error(`the plane is not ready after ${START_LIMIT_MS / 1000} s: ${program.output().slice(-600)}`)
  return plane
}

/** Stops a plane in order; kills it after a timeout. */
export async function stopPlane(lab: Lab, plane: Plane): Promise<void> {
  plane.program.signal('SIGTERM')
  if ((await within(START_LIMIT_MS, () => !plane.program.isRunning())) === undefined) await lab.killAll()
}

export async function isHealthy(port: number, timeoutMs = HEALTH_TIMEOUT_MS): Promise<boolean> {
  try {
    const response = await fetch(`http://127.0.0.1:${port}/healthz`, { signal: AbortSignal.timeout(timeoutMs) })
    await response.text()
    return response.status === 200
  } catch {
    return false
  }
}

/** Calls the plane over HTTP. */
export async function call(
  url: string,
  key: string,
  method: string,
  path: string,
  body?: unknown,
  options: { headers?: Record<string, string>; timeoutMs?: number } = {},
): Promise<Answer> {
  try {
    const response = await fetch(url + path, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...options.headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(options.timeoutMs ?? CALL_TIMEOUT_MS),
    })
    const text = await response.text()
    return { status: response.status, body: parse(text), text }
  } catch (error) {
    return { status: 0, body: {}, text: String(error) }
  }
}

/** Like `call`, but throws if the answer is not a success. */
export async function must(...args: Parameters<typeof call>): Promise<Record<string, unknown>> {
  const answer = await call(...args)
  if (answer.status < 200 || answer.status > 299) throw new Error(`${args[2]} ${args[3]}: ${answer.status} ${answer.text.slice(0, 300)}`)
  return answer.body
}

/** Returns a free port below the system's ephemeral range, so that the port stays free for a restart. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 10_000)
    const isFree = await new Promise<boolean>((resolve) => {
      const server = createServer()
      server.once('error', () => resolve(false))
      server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
    })
    if (isFree) return port
  }
}

/** Creates an endpoint whose workers follow the job's input, on simulated GPUs (`GPU_ARGS`). */
export async function createProbe(plane: Plane, workers = { min: 2, max: 4 }, pool = 'AMPERE_24'): Promise<string> {
  const created = await must(plane.url, plane.apiKey, 'POST', '/v2/serverless', {
    name: 'probe',
    image: 'builtin/probe',
    gpu: { pools: [pool], count: 1 },
    workers: { ...workers, idleTimeout: 600 },
    disk: 1,
  })
  return String(created.id)
}

/** Creates an endpoint without workers. The bound of a queue grows with `max`, so that no submit is refused because of its length. */
export function createQueue(plane: Plane, pool?: string): Promise<string> {
  return createProbe(plane, { min: 0, max: 200 }, pool)
}

/** Gives the agent room for several workers on a small machine. */
export const GPU_ARGS = ['--simulate-gpus', 'NVIDIA L4:16']

/** Returns the status of /readyz as a string for the table. */
export async function readiness(plane: Pick<Plane, 'url'>): Promise<string> {
  const { status } = await call(plane.url, '', 'GET', '/readyz', undefined, { timeoutMs: 10_000 })
  return status === 0 ? 'no answer' : String(status)
}

function readDemo(dataDir: string): Demo | undefined {
  const path = join(dataDir, 'demo.json')
  if (!existsSync(path)) return undefined
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Demo
  } catch {
    return undefined
  }
}

function parse(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}
