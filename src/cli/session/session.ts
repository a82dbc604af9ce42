import { createInterface } from 'node:readline/promises'
import { type ApiClient, ApiError, connect } from '../../client/client.ts'
import { readConfig, readCredentials } from '../config/files.ts'
import { findLocalPlane } from '../config/local-plane.ts'
import { resolveTarget, type Target } from '../config/target.ts'
import { EXIT } from '../core/exit-codes.ts'
import { CliError, usage } from '../core/failure.ts'
import type { Globals, Io } from '../core/io.ts'
import { type Call, CallPrinter } from '../core/printed.ts'
import { CLI_VERSION } from '../core/version.ts'
import { Output } from '../output/output.ts'

/** Default timeout of `--wait`, milliseconds. */
const WAIT_MS = 10 * 60_000

/** Context of a command's action: plane, client, output and settings. */
export class Session {
  readonly io: Io
  readonly globals: Globals
  readonly out: Output
  /** Aborted on Ctrl-C and when `--timeout` has expired. */
  readonly signal: AbortSignal
  readonly startedAtMs: number
  /** Set with `--print`. */
  readonly printer: CallPrinter | undefined
  private found: Target | undefined
  private hasChanged = false
  /** Names that the user typed, by the id that they resolved to. */
  readonly written = new Map<string, string>()
  /** Version of the plane, from its latest answer (CMD-9). */
  planeVersion: string | undefined

  constructor(io: Io, globals: Globals, { signal, end }: { signal: AbortSignal; end(reason: Error): void }) {
    this.io = io
    this.globals = globals
    this.signal = signal
    this.out = new Output(io, globals)
    if (globals.print !== undefined) {
      this.printer = new CallPrinter(globals.print, (text) => io.stdout.write(text), end)
      this.out.mute()
    }
    this.startedAtMs = io.nowMs()
  }

  /** Plane of the command; resolved on first use, so commands without a request need none. */
  get target(): Target {
    this.found ??= resolveTarget({
      flags: {
        ...(this.globals.url !== undefined && { url: this.globals.url }),
        ...(this.globals.context !== undefined && { context: this.globals.context }),
      },
      env: this.io.env,
      config: readConfig(this.io),
      credentials: readCredentials(this.io),
      local: findLocalPlane(this.io),
    })
    return this.found
  }

  /** The user's key for the plane. Throws `CliError` if there is none. */
  get key(): string {
    const { key, url } = this.target
    if (key !== undefined) return key
    throw new CliError(EXIT.NOT_ALLOWED, 'not_signed_in', `no key for ${url}`, {
      hint: `podplane auth login --url ${url}, or set PODPLANE_API_KEY`,
    })
  }

  /** Client of the plane with the user's key. */
  get api(): ApiClient {
    return this.connectAs(this.key)
  }

  /** Client of the plane with the operator key. Throws `CliError` if there is none. */
  get operatorApi(): ApiClient {
    const { operatorKey, url } = this.target
    if (operatorKey !== undefined) return this.connectAs(operatorKey)
    throw new CliError(EXIT.NOT_ALLOWED, 'not_operator', `no operator key for ${url}`, { hint: 'set PODPLANE_OPERATOR_KEY' })
  }

  connectAs(key: string): ApiClient {
    return connect({ url: this.target.url, credentials: { key }, fetch: (input, init) => this.fetch(input, init) })
  }

  /** Whether the action may run again: the plane found nothing, and nothing was changed or printed before. */
  mayRepeat(error: unknown): boolean {
    return error instanceof ApiError && error.status === 404 && !this.hasChanged && !this.out.hasSaid
  }

  /** Deadline for a wait of this command, milliseconds since 1970. */
  get deadlineMs(): number {
    return this.startedAtMs + (this.globals.timeout ?? WAIT_MS)
  }

  /** Whether a user reads the output: stdout and stderr are terminals, and no flag or CI variable states otherwise. */
  get isInteractive(): boolean {
    return this.out.isTerminal && this.io.stderr.isTTY === true && !this.out.isJson && !this.globals.quiet && !this.io.env.CI
  }

  /** Whether a question may be asked (CMD-5). */
  get canAsk(): boolean {
    return this.globals.input !== false && !this.io.env.CI && this.io.stdin.isTTY === true && this.io.stderr.isTTY === true
  }

  /** Asks for confirmation before a loss. Throws if the user declines, or without a terminal unless `--yes` was set (CMD-5). */
  async confirm(question: string): Promise<void> {
    if (this.globals.yes || this.printer !== undefined) return
    const asked = this.withNames(question)
    if (!this.canAsk) throw usage(`${asked} This needs a confirmation, and there is no terminal for it.`, 'add --yes')
    const answer = await this.ask(`${asked} [y/N] `)
    if (!/^y(es)?$/i.test(answer.trim())) throw new CliError(EXIT.BAD_OUTCOME, 'cancelled', 'nothing was changed')
  }

  /** Puts the names that the user typed beside the ids. */
  private withNames(text: string): string {
    return [...this.written].reduce((left, [id, name]) => left.replaceAll(id, `${name} (${id})`), text)
  }

  async ask(question: string): Promise<string> {
    // Prompts go to stderr; stdout carries data only.
    const lines = createInterface({ input: this.io.stdin, output: process.stderr })
    try {
      return await lines.question(question, { signal: this.signal })
    } finally {
      lines.close()
    }
  }

  private callOf(input: string | URL | Request, init: RequestInit | undefined, headers: Headers): Call {
    const isOperator = headers.get('authorization') === `Bearer ${this.target.operatorKey}`
    return {
      method: init?.method ?? 'GET',
      url: String(input),
      body: typeof init?.body === 'string' ? init.body : undefined,
      keyVariable: isOperator ? 'PODPLANE_OPERATOR_KEY' : 'PODPLANE_API_KEY',
    }
  }

  /** Sends a request with the `user-agent` of this program. */
  async fetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
    const headers = new Headers(init?.headers)
    await this.printer?.admit(this.callOf(input, init, headers), headers.get('accept') === 'text/event-stream')
    headers.set('user-agent', `podplane-cli/${CLI_VERSION}`)
    const startedAtMs = performance.now()
    const trace = (text: string) => {
      if (!this.globals.debug) return
      this.io.stderr.write(`debug: ${init?.method ?? 'GET'} ${String(input)} ${text} (${Math.round(performance.now() - startedAtMs)} ms)\n`)
    }
    try {
      const response = await fetch(input, { ...init, headers })
      this.planeVersion = response.headers.get('podplane-version') ?? this.planeVersion
      if (response.ok && init?.method !== 'GET') this.hasChanged = true
      trace(`${response.status} ${response.headers.get('x-request-id') ?? ''}`.trim())
      return response
    } catch (error) {
      trace('no answer')
      throw error
    }
  }
}
