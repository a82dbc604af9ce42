const TEXT_SHOWN = 200
/** Statuses of a plane, or of a proxy before it, that has not carried out the request. */
const TRANSIENT = new Set([429, 502, 503, 504])

/** Answer of the plane other than a success; `message` is written for users. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: number
  /** Machine-readable code of the problem, if the plane sent one. */
  readonly code: string | undefined
  /** Title of the problem document, if the answer is one. */
  readonly title: string | undefined
  /** Reason without the method, path and status of the request. */
  readonly detail: string
  /** Errors of the input, one per path. */
  readonly errors: readonly string[]
  /** Whether the same request may succeed later. */
  readonly retryable: boolean
  /** Value of `Retry-After`, milliseconds. */
  readonly retryAfterMs: number | undefined
  /** Id of the request in the plane's logs. */
  readonly requestId: string | undefined

  constructor(what: string, response: Pick<Response, 'status' | 'headers'>, text: string) {
    const problem = readProblem(text)
    super(`${what}: ${response.status} ${problem.message}`)
    this.status = response.status
    this.title = problem.title
    this.detail = problem.message
    this.code = problem.code
    this.errors = problem.errors
    this.retryable = TRANSIENT.has(response.status)
    this.retryAfterMs = readRetryAfter(response.headers.get('retry-after'))
    this.requestId = response.headers.get('x-request-id') ?? undefined
  }
}

/** No answer came: it is unknown whether the request was carried out. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError'
  /** Method and path of the request, as `METHOD path`. */
  readonly what: string
  /** Address of the plane, if known. */
  readonly url: string | undefined
  constructor(what: string, cause: unknown, url?: string) {
    super(`${what}: no answer (${reasonOf(cause)})`, { cause })
    this.what = what
    this.url = url
  }
}

/** Whether the failure is temporary: the request is valid, but the plane or the network does not answer now. */
export function isPassing(error: unknown): boolean {
  return error instanceof ConnectionError || (error instanceof ApiError && error.retryable)
}

// Reads a problem document: `detail`, `title` and, for refused input, `errors`. Other text, such as a proxy's page, is shown up to
// `TEXT_SHOWN` characters.
function readProblem(text: string): { message: string; title: string | undefined; code: string | undefined; errors: string[] } {
  const plain = { message: text.trim().slice(0, TEXT_SHOWN) || 'without a reason', title: undefined, code: undefined, errors: [] }
  try {
    const { detail, title, error, errors, code, error_description: description } = JSON.parse(text) as Record<string, unknown>
    const message = [detail, title, description, error].find((value) => typeof value === 'string' && value !== '')
    const reasons = Array.isArray(errors) ? errors.filter((value) => typeof value === 'string') : []
    if (message === undefined) return plain
    return {
      message: reasons.length === 0 ? String(message) : `${String(message).replace(/\.$/, '')}: ${reasons.join('; ')}`,
      title: typeof title === 'string' ? title : undefined,
      code: typeof code === 'string' ? code : undefined,
      errors: reasons,
    }
  } catch {
    return plain
  }
}

/** Parses `Retry-After`, seconds or a date (RFC 9110), to milliseconds. */
function readRetryAfter(header: string | null): number | undefined {
  if (header === null) return undefined
  if (/^\d+$/.test(header)) return Number(header) * 1_000
  const at = Date.parse(header)
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now())
}

// `fetch` states the reason for a failure only in its `cause`.
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? error.cause.message : error.message
}
