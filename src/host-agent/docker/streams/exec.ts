import { randomBytes } from 'node:crypto'
import type { Signal } from '../../../host-protocol/tunnel/channels.ts'
import { sleep } from '../../../node/backoff.ts'
import type { DockerEngine } from '../../engine/engine.ts'
import { statusOf } from '../../engine/engine-errors.ts'
import { asStdout, type ExecStream } from '../../engine/exec-stream.ts'
import { type ExecOutput, ExecRefused, type ExecRequest, type ExecSession } from '../../runtime.ts'
import { failureText } from '../engine/failure-text.ts'
import { EXEC_MARK, HANGUP_SCRIPT, LOGIN_SHELL, SIGNAL_SCRIPT } from './exec-script.ts'
import { frameReader } from './logs.ts'
import { TerminalSize } from './terminal-size.ts'

/** Maximum number of concurrent commands in one container. */
export const MAX_SESSIONS = 96
const STDERR = 2
/** The engine ends the output a moment before it knows the exit code. */
const EXIT_POLLS = 100
const EXIT_POLL_MS = 50

/** Commands in the containers of this host (HOST-130 to HOST-135). */
export class ContainerExecs {
  private readonly engine: DockerEngine
  private readonly open = new Map<string, number>()
  /** Containers in which the commands of a previous agent process were ended. */
  private readonly swept = new Map<string, Promise<void>>()

  constructor(engine: DockerEngine) {
    this.engine = engine
  }

  /** Starts a command in a running container. Throws `ExecRefused`. */
  async start(name: string, request: ExecRequest): Promise<ExecSession> {
    const open = this.open.get(name) ?? 0
    if (open >= MAX_SESSIONS) throw new ExecRefused(`${open} commands already run in this container, which is the maximum`)
    this.open.set(name, open + 1)
    const leave = () => this.leave(name)
    try {
      await this.sweep(name)
      return await this.begin(name, request, leave)
    } catch (error) {
      leave()
      throw error instanceof ExecRefused ? error : new ExecRefused(describe(error))
    }
  }

  private async begin(name: string, { command, terminal }: ExecRequest, leave: () => void): Promise<ExecSession> {
    const { engine } = this
    const mark = randomBytes(16).toString('hex')
    const tty = terminal !== null
    const env = [`${EXEC_MARK}=${mark}`, ...(tty ? [`TERM=${terminal.name}`] : [])]
    const exec = await engine.createExec(name, { command: command ?? LOGIN_SHELL, env, tty })
    const stream = await engine.startExec(exec, tty)
    const size = new TerminalSize((rows, cols) => engine.resizeExec(exec, rows, cols))
    if (terminal !== null) void size.change(terminal.rows, terminal.cols)
    let isOver = false
    const once = () => {
      if (isOver) return false
      isOver = true
      size.end()
      leave()
      return true
    }
    return {
      output: tty ? asStdout(stream) : apart(stream),
      write: stream.write,
      endInput: stream.endInput,
      resize: (rows, cols) => size.change(rows, cols),
      signal: (signal: Signal) => this.run(name, SIGNAL_SCRIPT, [mark, signal]),
      exitCode: async () => {
        const code = await this.exitCodeOf(exec)
        once()
        return code
      },
      end: async () => {
        if (!once()) return
        // Input first: a command that only reads ends with it.
        stream.endInput()
        await this.run(name, HANGUP_SCRIPT, [mark, 'HUP'])
        stream.close()
      },
    }
  }

  private async exitCodeOf(exec: string): Promise<number> {
    for (let checks = 0; checks < EXIT_POLLS; checks += 1) {
      const facts = await this.engine.inspectExec(exec)
      if (facts === undefined) break
      if (!facts.running && facts.exitCode !== null) return facts.exitCode
      await sleep(EXIT_POLL_MS)
    }
    throw new ExecRefused('the connection to the command ended before the command did')
  }

  /** Ends, once per container, the commands of a previous agent process, which no client can reach. */
  private sweep(name: string): Promise<void> {
    const known = this.swept.get(name) ?? this.run(name, HANGUP_SCRIPT, ['', 'HUP'])
    this.swept.set(name, known)
    return known
  }

  /** Runs a script in a container and resolves when it has ended; nothing runs in a container without a shell. */
  private async run(name: string, script: string, args: readonly string[]): Promise<void> {
    try {
      const exec = await this.engine.createExec(name, { command: ['/bin/sh', '-c', script, 'sh', ...args], env: [], tty: false })
      const stream = await this.engine.startExec(exec, false)
      for await (const _ of stream.output);
    } catch {
      // The container has ended with all its processes.
    }
  }

  private leave(name: string): void {
    const left = (this.open.get(name) ?? 1) - 1
    if (left > 0) this.open.set(name, left)
    else this.open.delete(name)
  }

  /** Drops the record of a container that has ended. */
  discard(name: string): void {
    this.swept.delete(name)
  }
}

async function* apart({ output }: ExecStream): AsyncGenerator<ExecOutput> {
  const read = frameReader()
  for await (const piece of output) {
    for (const { stream, payload } of read(piece)) yield { channel: stream === STDERR ? 'stderr' : 'stdout', bytes: payload }
  }
}

function describe(error: unknown): string {
  const status = statusOf(error)
  if (status === 404) return 'the container does not run any more'
  if (status === 409) return 'the container does not run'
  return failureText(error)
}
