import { WebSocket } from 'ws'
import { claimPort } from '../../src/local/port.ts'
import { fillQueue, statusTarget, submitTarget } from '../job-calls.ts'
import { countRequests } from '../load/closed-loop.ts'
import { countCycles } from '../load/worker-loop.ts'
import { startBenchPlane, startQueue } from '../setup.ts'
import { type CpuProfile, selfTimes } from './self-times.ts'

const SECONDS = 4
const PREFILL = 12_000
const SHOWN = 25
const SAMPLE_US = 200

/** Samples the plane's Worker and its objects under each operation of a job, and prints the functions that took the time. */
export async function profile(): Promise<number> {
  const inspectorPort = await claimPort(0)
  await using plane = await startBenchPlane({}, inspectorPort)
  const queue = await startQueue(plane)
  const inspector = await Inspector.open(inspectorPort)
  const status = await statusTarget(queue)
  const loads: Record<string, () => Promise<number>> = {
    '/run': () => countRequests(submitTarget(queue), SECONDS),
    '/status': () => countRequests(status, SECONDS),
    'take and done': () => countCycles(queue.url, queue.workers, SECONDS, 1),
  }
  for (const [name, load] of Object.entries(loads)) {
    await fillQueue(queue, PREFILL)
    await inspector.call('Profiler.start')
    const operations = await load()
    const { profile: found } = (await inspector.call('Profiler.stop')) as { profile: CpuProfile }
    process.stdout.write(
      `\n${name}: ${operations} operations; microseconds an operation by function, without the functions that it calls\n`,
    )
    for (const { where, us } of selfTimes(found).slice(0, SHOWN))
      process.stdout.write(`${(us / operations).toFixed(1).padStart(8)}  ${where}\n`)
  }
  inspector.close()
  return 0
}

/** A connection to the inspector of the runtime. */
class Inspector {
  private readonly socket: WebSocket
  private readonly waiting = new Map<number, { resolve(result: unknown): void; reject(error: Error): void }>()
  private last = 0

  private constructor(socket: WebSocket) {
    this.socket = socket
    socket.on('message', (data) => {
      const { id, result, error } = JSON.parse(String(data)) as { id?: number; result?: unknown; error?: { message: string } }
      const call = id === undefined ? undefined : this.waiting.get(id)
      if (id !== undefined) this.waiting.delete(id)
      if (error) call?.reject(new Error(error.message))
      else call?.resolve(result)
    })
  }

  /** Connects to the plane's Worker. Throws if there is none at the port. */
  static async open(port: number): Promise<Inspector> {
    const targets = (await (await fetch(`http://127.0.0.1:${port}/json`)).json()) as { webSocketDebuggerUrl: string }[]
    const [target] = targets
    if (!target) throw new Error('the inspector has no target')
    const socket = new WebSocket(target.webSocketDebuggerUrl, { maxPayload: 2 ** 30 })
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject))
    const inspector = new Inspector(socket)
    await inspector.call('Profiler.enable')
    await inspector.call('Profiler.setSamplingInterval', { interval: SAMPLE_US })
    return inspector
  }

  call(method: string, params: object = {}): Promise<unknown> {
    this.last += 1
    const id = this.last
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject })
      this.socket.send(JSON.stringify({ id, method, params }))
    })
  }

  close(): void {
    this.socket.terminate()
  }
}
