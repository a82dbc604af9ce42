import { ApiError, ConnectionError } from './errors.ts'
import type { Method } from './operation.ts'
import { CONSOLE_HEADERS } from './session.ts'

/** Default timeout for one answer, milliseconds. Calls that wait on purpose, such as `/runsync`, set their own. */
const TIMEOUT_MS = 30_000
const TRIES = 4
const FIRST_PAUSE_MS = 250
/** Longest pause before a retry, milliseconds; a longer `Retry-After` is reported as an error at once. */
const LONGEST_PAUSE_MS = 30_000
/** Time after which no further retry starts, milliseconds: without it, four timeouts would keep the caller waiting for minutes. */
const PATIENCE_MS = 45_000
/** Methods whose repetition has no further effect. */
const IDEMPOTENT: ReadonlySet<Method> = new Set(['GET', 'PUT', 'DELETE'])

/** Authentication of a client: an API key, or in a browser the session cookie, which the browser sends, with the account to act for. */
export type Credentials = { key: string } | { accountId: string | null }

export interface TransportOptions {
  /** Address of the plane, such as `https://api.example.com`. */
  url: string
  credentials: Credentials
  /** Replaces `fetch` in tests and in environments with their own. */
  fetch?: typeof fetch
  /** Replaces the pause between retries in tests. */
  pause?: (ms: number, signal: AbortSignal | undefined) => Promise<void>
}

/** Options of a single call. */
export interface CallOptions {
  signal?: AbortSignal
  timeoutMs?: number
  /** Requests to create with the same key create one resource; generated if left out. */
  idempotencyKey?: string
  headers?: Record<string, string>
}

/** A request to send. */
export interface Sent extends CallOptions {
  method: Method
  /** Path with its query. */
  path: string
  body?: unknown
  isCreate?: boolean
}

/** Sends requests to a plane and retries after a pause those that were not carried out or are safe to repeat. */
export class Transport {
  private readonly base: string
  private readonly options: TransportOptions

  constructor(options: TransportOptions) {
    this.base = options.url.replace(/\/+$/, '')
    this.options = options
  }

  /**
   * Resolves to a successful response. Throws `ApiError` for any other response, `ConnectionError` if none came, and the reason of the
   * signal once it fires.
   */
  async send(sent: Sent): Promise<Response> {
    return await this.attempt(sent, async (response) => response)
  }

  /** Resolves to the parsed answer; undefined if it has no body. */
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
        // A body that broke off counts as no answer.
        return await read(response).catch((error: unknown) => this.lost(sent, error))
      } catch (error) {
        // An earlier attempt of this call has deleted the resource, and its answer was lost.
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
      // A redirect could send the API key to another server.
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

/** Pause before the next attempt, milliseconds; undefined if there must be none. */
function pauseBefore(error: unknown, { method, path, isCreate }: Sent, tried: number): number | undefined {
  const backoffMs = FIRST_PAUSE_MS * 2 ** (tried - 1) * (0.5 + Math.random() / 2)
  const isRepeatable = IDEMPOTENT.has(method) || isCreate === true || isDryRun(path)
  if (error instanceof ConnectionError) return isRepeatable ? backoffMs : undefined
  if (!(error instanceof ApiError) || !error.retryable) return undefined
  // Status 429 means that the request was not carried out, so it is safe to repeat.
  if (!isRepeatable && error.status !== 429) return undefined
  const pauseMs = Math.max(backoffMs, error.retryAfterMs ?? 0)
  return pauseMs <= LONGEST_PAUSE_MS ? pauseMs : undefined
}

/** Whether the request is a dry run, which changes nothing with any method. */
function isDryRun(path: string): boolean {
  return new URLSearchParams(path.split('?')[1]).get('dryRun') === 'true'
}

/** Waits; throws the reason of the signal as soon as it fires. */
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
