const TEXT_SHOWN = 200
/** Statuses of a plane, or of a proxy before it, that has not done what was asked. */
const TRANSIENT = new Set([429, 502, 503, 504])

/** An answer of the plane that is not a success; `message` is made to be read by a person. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: number
  /** Which problem it is, where the plane has a word for it. */
  readonly code: string | undefined
  /** Its kind in a few words, where the answer is a problem. */
  readonly title: string | undefined
  /** The reason alone, without the request that met it. */
  readonly detail: string
  /** What was wrong with the input, a path each. */
  readonly errors: readonly string[]
  /** The same request may be answered later. */
  readonly retryable: boolean
  /** When, as the plane says. */
  readonly retryAfterMs: number | undefined
  /** Names the request in the plane's logs. */
  readonly requestId: string | undefined

  constructor(what: string, response: Pick<Response, 'status' | 'headers'>, text: string) {
    const problem = readProblem(text)
    super(`${what}: ${response.status} ${problem.words}`)
    this.status = response.status
    this.title = problem.title
    this.detail = problem.words
    this.code = problem.code
    this.errors = problem.errors
    this.retryable = TRANSIENT.has(response.status)
    this.retryAfterMs = readRetryAfter(response.headers.get('retry-after'))
    this.requestId = response.headers.get('x-request-id') ?? undefined
  }
}

/** No answer came: nobody knows whether the request was carried out. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError'
  /** `METHOD path`. */
  readonly what: string
  /** The plane that was asked, where it has an address of its own. */
  readonly url: string | undefined
  constructor(what: string, cause: unknown, url?: string) {
    super(`${what}: no answer (${reasonOf(cause)})`, { cause })
    this.what = what
    this.url = url
  }
}

/** Nothing that was asked is wrong: the plane, or the way to it, does not answer now. */
export function isPassing(error: unknown): boolean {
  return error instanceof ConnectionError || (error instanceof ApiError && error.retryable)
}

// Problem documents carry `detail`, `title` and, when input was refused, `errors`; anything else (a proxy's page, say) is shown as the start of its text.
function readProblem(text: string): { words: string; title: string | undefined; code: string | undefined; errors: string[] } {
  const plain = { words: text.trim().slice(0, TEXT_SHOWN) || 'without a reason', title: undefined, code: undefined, errors: [] }
  try {
    const { detail, title, error, errors, code, error_description: description } = JSON.parse(text) as Record<string, unknown>
    const words = [detail, title, description, error].find((value) => typeof value === 'string' && value !== '')
    const reasons = Array.isArray(errors) ? errors.filter((value) => typeof value === 'string') : []
    if (words === undefined) return plain
    return {
      words: reasons.length === 0 ? String(words) : `${String(words).replace(/\.$/, '')}: ${reasons.join('; ')}`,
      title: typeof title === 'string' ? title : undefined,
      code: typeof code === 'string' ? code : undefined,
      errors: reasons,
    }
  } catch {
    return plain
  }
}

/** Seconds or a date (RFC 9110). */
function readRetryAfter(header: string | null): number | undefined {
  if (header === null) return undefined
  if (/^\d+$/.test(header)) return Number(header) * 1_000
  const at = Date.parse(header)
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now())
}

// `fetch` hides why it failed in a cause.
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? error.cause.message : error.message
}
