import { ApiError, ConnectionError } from './errors.ts'
import type { Method } from './operation.ts'
import { CONSOLE_HEADERS } from './session.ts'

/** Longest wait for one answer. Calls that wait on purpose, such as `/runsync`, say how long. */
const TIMEOUT_MS = 30_000
const TRIES = 4
const FIRST_PAUSE_MS = 250
/** Who is told to come back later than this hears it instead of waiting. */
const LONGEST_PAUSE_MS = 30_000
/** Who has waited this long for answers that do not come hears it: what timed out four times would be silent for minutes. */
const PATIENCE_MS = 45_000
/** Repeating them changes nothing that the first has not. */
const IDEMPOTENT: ReadonlySet<Method> = new Set(['GET', 'PUT', 'DELETE'])

/** How a client says who it is: by a key, or in a browser by the cookie of its session, which goes along by itself, and the account it acts for. */
export type Credentials = { key: string } | { accountId: string | null }

export interface TransportOptions {
  /** Where the plane is, `https://api.example.com`. */
  url: string
  credentials: Credentials
  /** For tests, and for environments with a `fetch` of their own. */
  fetch?: typeof fetch
  /** Waits between tries; for tests. */
  pause?: (ms: number, signal: AbortSignal | undefined) => Promise<void>
}

/** What a single call may say. */
export interface CallOptions {
  signal?: AbortSignal
  timeoutMs?: number
  /** Under one key a create makes one thing however often it is sent; made up where it is left out. */
  idempotencyKey?: string
  headers?: Record<string, string>
}

export interface Sent extends CallOptions {
  method: Method
  /** With its query. */
  path: string
  body?: unknown
  isCreate?: boolean
}

/** Sends requests to a plane; what was not carried out, or may be repeated, is sent again after a pause. */
export class Transport {
  private readonly base: string
  private readonly options: TransportOptions

  constructor(options: TransportOptions) {
    this.base = options.url.replace(/\/+$/, '')
    this.options = options
  }

  /**
   * The answer to a request, if it is a success. Throws `ApiError` for any other, `ConnectionError` when none came, and the reason of the signal
   * once it fires.
   */
  async send(sent: Sent): Promise<Response> {
    return await this.attempt(sent, async (response) => response)
  }

  /** The parsed answer; undefined when it has no body. */
  async json(sent: Sent): Promise<unknown> {
    const text = await this.attempt(sent, (response) => response.text())
    return text === '' ? undefined : JSON.parse(text)
  }

  private async attempt<Answer>(sent: Sent, read: (response: Response) => Promise<Answer>): Promise<Answer> {
    const headers = this.headersOf(sent)
    const startedAtMs = Date.now()
    let isLost = false
    for (let tried = 1; ; tried += 1) {
      try {
        const response = await this.sendOnce(sent, headers)
        // One that broke off in its middle is no answer.
        return await read(response).catch((error: unknown) => this.lost(sent, error))
      } catch (error) {
        // An earlier try of this very call has deleted it, and its answer was lost.
        if (isLost && sent.method === 'DELETE' && error instanceof ApiError && error.status === 404)
          return await read(new Response(null, { status: 204 }))
        isLost ||= error instanceof ConnectionError
        const mayTry = tried < TRIES && Date.now() - startedAtMs < PATIENCE_MS && !sent.signal?.aborted
        const pauseMs = mayTry ? pauseBefore(error, sent, tried) : undefined
        if (pauseMs === undefined) throw error
        await (this.options.pause ?? pause)(pauseMs, sent.signal)
      }
    }
  }

  private async sendOnce(sent: Sent, headers: Headers): Promise<Response> {
    const { method, path, body, signal, timeoutMs = TIMEOUT_MS } = sent
    const timeout = AbortSignal.timeout(timeoutMs)
    const response = await (this.options.fetch ?? fetch)(this.base + path, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      // A key is for this plane only.
      redirect: 'error',
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    }).catch((error: unknown) => this.lost(sent, error))
    if (!response.ok) throw new ApiError(`${method} ${path}`, response, await response.text().catch(() => ''))
    return response
  }

  private lost({ method, path, signal }: Sent, error: unknown): never {
    signal?.throwIfAborted()
    throw new ConnectionError(`${method} ${path}`, error, this.base)
  }

  private headersOf({ body, isCreate, idempotencyKey, headers: more }: Sent): Headers {
    const headers = new Headers(more)
    const { credentials } = this.options
    if ('key' in credentials) headers.set('authorization', `Bearer ${credentials.key}`)
    else for (const [name, value] of Object.entries(sessionHeaders(credentials.accountId))) headers.set(name, value)
    if (body !== undefined) headers.set('content-type', 'application/json')
    if (isCreate) headers.set('idempotency-key', idempotencyKey ?? crypto.randomUUID())
    return headers
  }
}

function sessionHeaders(accountId: string | null): Record<string, string> {
  return { ...CONSOLE_HEADERS, ...(accountId === null ? {} : { 'x-team-id': accountId }) }
}

/** How long to wait before the next try; undefined: there is to be none. */
function pauseBefore(error: unknown, { method, path, isCreate }: Sent, tried: number): number | undefined {
  const backoffMs = FIRST_PAUSE_MS * 2 ** (tried - 1) * (0.5 + Math.random() / 2)
  const isRepeatable = IDEMPOTENT.has(method) || isCreate === true || isDryRun(path)
  if (error instanceof ConnectionError) return isRepeatable ? backoffMs : undefined
  if (!(error instanceof ApiError) || !error.retryable) return undefined
  // What was turned away by a limit was not carried out.
  if (!isRepeatable && error.status !== 429) return undefined
  const pauseMs = Math.max(backoffMs, error.retryAfterMs ?? 0)
  return pauseMs <= LONGEST_PAUSE_MS ? pauseMs : undefined
}

/** What is asked what it would do changes nothing, whatever its method. */
function isDryRun(path: string): boolean {
  return new URLSearchParams(path.split('?')[1]).get('dryRun') === 'true'
}

/** Waits, or throws the signal's reason as soon as it fires. */
export async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted()
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(done, ms)
    function done() {
      signal?.removeEventListener('abort', stop)
      resolve()
    }
    function stop() {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    signal?.addEventListener('abort', stop, { once: true })
  })
}
