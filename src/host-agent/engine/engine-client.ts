import { backoffMs, sleep } from '../../node/backoff.ts'
import { errorText } from '../../node/fail.ts'
import type { Log } from '../log.ts'
import { Slots } from '../slots.ts'
import { Caller } from './caller.ts'
import { CALL_RULES, type CallName } from './calls.ts'
import { ClientProcess } from './client-process.ts'
import type { DockerEngine } from './engine.ts'
import { EngineClientEnded } from './engine-errors.ts'

/** Maximum number of concurrent calls in one queue. */
const QUEUE_PLACES = 32
const RESTART_BASE_MS = 100
const RESTART_MAX_MS = 10_000
/** A process that has lived this long counts as recovered. */
const STEADY_MS = 60_000
const NEVER = new AbortController().signal

export interface EngineClientDeps {
  /** Command that runs this program again. */
  command: readonly [string, ...string[]]
  log: Log
}

interface Connection {
  process: ClientProcess
  caller: Caller
}

/**
 * Connects to the container engine through a separate process (HOST-70): no answer of the engine, and no failure of the client, ends the
 * agent. A client that ends is restarted after a growing pause; calls in progress fail with `EngineClientEnded`.
 */
export class EngineClient {
  /** The engine, with the same interface as a direct client. */
  readonly engine: DockerEngine
  private readonly deps: EngineClientDeps
  private readonly queues = new Slots(() => QUEUE_PLACES)
  private connection: Connection | undefined
  private pause: Promise<void> = Promise.resolve()
  private failures = 0
  private readonly closing = new AbortController()

  constructor(deps: EngineClientDeps) {
    this.deps = deps
    const names = Object.keys(CALL_RULES) as CallName[]
    const calls = names.map((name) => [name, (...args: unknown[]) => this.callAgain(name, args)])
    this.engine = Object.fromEntries(calls) as DockerEngine
  }

  /** Process id of the current client. */
  get pid(): number | undefined {
    return this.connection?.process.pid
  }

  close(): void {
    this.closing.abort()
    this.connection?.process.kill('is not needed')
  }

  private async callAgain(name: CallName, args: readonly unknown[]): Promise<unknown> {
    try {
      return await this.call(name, args)
    } catch (error) {
      if (!(error instanceof EngineClientEnded) || !CALL_RULES[name].again || this.closing.signal.aborted) throw error
      return await this.call(name, args)
    }
  }

  private async call(name: CallName, args: readonly unknown[]): Promise<unknown> {
    const make = async () => (await this.connected()).caller.make(name, args)
    const { queue } = CALL_RULES[name]
    return queue === null ? await make() : await this.queues.with(queue, NEVER, make)
  }

  private async connected(): Promise<Connection> {
    // The client may have ended again when the pause is over, which sets a new pause.
    for (let waited: Promise<void> | undefined; waited !== this.pause; ) {
      waited = this.pause
      await waited
    }
    if (this.closing.signal.aborted) throw new EngineClientEnded()
    this.connection ??= this.start()
    return this.connection
  }

  private start(): Connection {
    const startedAtMs = performance.now()
    try {
      const caller = new Caller((...frame) => client.send(...frame))
      const client = new ClientProcess(this.deps.command, {
        onFrame: (frame) => caller.take(frame),
        onEnd: (reason) => {
          this.connection = undefined
          this.noteEnd(startedAtMs, reason)
          caller.endAll(new EngineClientEnded())
        },
      })
      return { process: client, caller }
    } catch (error) {
      this.noteEnd(startedAtMs, errorText(error))
      throw new EngineClientEnded()
    }
  }

  private noteEnd(startedAtMs: number, reason: string): void {
    if (this.closing.signal.aborted) return
    if (performance.now() - startedAtMs > STEADY_MS) this.failures = 0
    const waitMs = backoffMs(this.failures, RESTART_BASE_MS, RESTART_MAX_MS)
    this.failures += 1
    this.pause = sleep(waitMs, this.closing.signal)
    this.deps.log.error('the engine client ended; it is started again', { reason, waitMs })
  }
}
