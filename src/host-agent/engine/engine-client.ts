import { backoffMs, sleep } from '../../node/backoff.ts'
import { errorText } from '../../node/fail.ts'
import type { DockerEngine } from '../docker/engine/engine.ts'
import { EngineClientEnded } from '../docker/engine/engine-errors.ts'
import type { Log } from '../log.ts'
import { Caller } from './caller.ts'
import { CALL_RULES, type CallName } from './calls.ts'
import { ClientProcess } from './client-process.ts'
import { Turns } from './turns.ts'

/** So many calls of a queue at a time. */
const QUEUE_PLACES = 32
const RESTART_BASE_MS = 100
const RESTART_MAX_MS = 10_000
/** One that has lived this long has recovered. */
const STEADY_MS = 60_000

export interface EngineClientDeps {
  /** How to run this very program again. */
  command: readonly [string, ...string[]]
  log: Log
}

interface Connection {
  process: ClientProcess
  caller: Caller
}

/**
 * Speaks to the container engine through a process of its own (HOST-70): whatever the engine answers, and whatever the client makes of it, the
 * agent lives on. A client that ends is started again, after a pause that grows; calls under way fail and say so.
 */
export class EngineClient {
  /** The engine as everybody else knows it. */
  readonly engine: DockerEngine
  private readonly deps: EngineClientDeps
  private readonly queues = { looks: new Turns(QUEUE_PLACES), starts: new Turns(QUEUE_PLACES), ends: new Turns(QUEUE_PLACES) }
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

  /** The process that serves at the moment. */
  get pid(): number | undefined {
    return this.connection?.process.pid
  }

  close(): void {
    this.closing.abort()
    this.connection?.process.kill('is not needed any more')
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
    return queue === null ? await make() : await this.queues[queue].take(make)
  }

  private async connected(): Promise<Connection> {
    // Whoever waits may find the client ended again when the pause is over.
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
