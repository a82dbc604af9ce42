import { type ChildProcess, spawn } from 'node:child_process'
import { Duplex } from 'node:stream'
import { errorText } from '../../node/fail.ts'
import { describeExit } from '../exit-reason.ts'
import { encodeFrame, type Frame, type FrameKind, frameDecoder } from './frames.ts'

/** Heap limit for its answers; a process that needs more ends and is restarted. */
const HEAP_MAX_MB = 256
/** Most objects are short-lived, so a small young generation saves memory. */
const SEMI_SPACE_MAX_MB = 2
/** File descriptor of the child's end of the pipe. */
const CLIENT_END = 3
const PING_EVERY_MS = 10_000
/** A process that is silent for this long counts as stuck. */
const SILENCE_MAX_MS = 60_000
const LAST_OUTPUT_MAX_CHARS = 4_096
/** Environment variables that the engine's client needs; the agent's own environment may contain a join token. */
const ENVIRONMENT = /^(DOCKER_.*|SSL_CERT_.*|NODE_EXTRA_CA_CERTS|HOME|PATH|TZ)$/

/** Events of the process that calls the engine. */
export interface ClientProcessEvents {
  onFrame(frame: Frame): void
  /** Called once, also when the process could not be started. */
  onEnd(reason: string): void
}

/** One process that connects to the engine for the agent. */
export class ClientProcess {
  private readonly child: ChildProcess
  private readonly pipe: Duplex
  private readonly events: ClientProcessEvents
  private readonly pinging: NodeJS.Timeout
  private heardAtMs = performance.now()
  private lastOutput = ''
  private broken: string | undefined
  private isEnded = false

  /** `command` runs this program again. */
  constructor(command: readonly [string, ...string[]], events: ClientProcessEvents) {
    this.events = events
    const [program, ...args] = command
    const limits = [`--max-old-space-size=${HEAP_MAX_MB}`, `--max-semi-space-size=${SEMI_SPACE_MAX_MB}`]
    this.child = spawn(program, [...limits, ...args, '__engine'], {
      stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
      env: Object.fromEntries(Object.entries(process.env).filter(([name]) => ENVIRONMENT.test(name))),
    })
    this.child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.lastOutput = (this.lastOutput + text).slice(-LAST_OUTPUT_MAX_CHARS)
    })
    this.child.on('error', (error) => this.end(`could not be started: ${errorText(error)}`))
    // `close` follows the last bytes of its output.
    this.child.on('close', (exitCode, signal) => this.end(this.describe(exitCode, signal)))
    // Without free file descriptors, a child has no pipes, although its type promises them.
    const stdio = this.child.stdio as ChildProcess['stdio'] | undefined
    const pipe: unknown = stdio?.[CLIENT_END]
    if (!(pipe instanceof Duplex)) throw new Error('the engine client could not be given a pipe')
    this.pipe = pipe
    this.listen()
    this.pinging = setInterval(() => this.ping(), PING_EVERY_MS)
  }

  get pid(): number | undefined {
    return this.child.pid
  }

  send(kind: FrameKind, call: number, payload?: Buffer | string): void {
    const frame = encodeFrame(kind, call, payload)
    if (!this.pipe.destroyed) this.pipe.write(frame)
  }

  kill(why?: string): void {
    this.broken ??= why
    this.child.kill('SIGKILL')
  }

  private listen(): void {
    const decode = frameDecoder()
    this.pipe.on('data', (data: Buffer) => {
      this.heardAtMs = performance.now()
      try {
        for (const frame of decode(data)) this.events.onFrame(frame)
      } catch (error) {
        this.kill(`sent what is no answer: ${errorText(error)}`)
      }
    })
    this.pipe.on('error', () => {})
    this.pipe.on('close', () => this.kill())
  }

  private ping(): void {
    if (performance.now() - this.heardAtMs > SILENCE_MAX_MS) this.kill(`said nothing for ${SILENCE_MAX_MS / 1000} s`)
    else this.send('ping', 0)
  }

  private describe(exitCode: number | null, signal: NodeJS.Signals | null): string {
    const facts = { exitCode, signal, outOfMemory: false, tail: this.lastOutput.split('\n') }
    return this.broken === undefined ? describeExit(facts) : this.broken
  }

  private end(reason: string): void {
    if (this.isEnded) return
    this.isEnded = true
    clearInterval(this.pinging)
    this.pipe.destroy()
    this.events.onEnd(reason)
  }
}
