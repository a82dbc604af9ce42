/** An answer of the plane that is not a success; `message` is made to be read by a person. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** Longest wait for one answer. Calls that wait on purpose, such as `/runsync`, are not made through this client. */
const TIMEOUT_MS = 30_000

export interface ApiClient {
  /** Sends JSON and returns the parsed answer; undefined when it has no body. */
  request(method: string, path: string, body?: unknown): Promise<unknown>
}

/** Client of the operator API and of REST, which differ in nothing but the key. */
export function createApiClient(baseUrl: string, key: string): ApiClient {
  const base = baseUrl.replace(/\/+$/, '')
  return {
    async request(method, path, body) {
      const response = await fetch(base + path, {
        method,
        headers: { authorization: `Bearer ${key}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        redirect: 'error',
        signal: AbortSignal.timeout(TIMEOUT_MS),
      })
      const text = await response.text()
      if (!response.ok) throw new ApiError(response.status, `${method} ${path}: ${describe(response.status, text)}`)
      return text === '' ? undefined : JSON.parse(text)
    },
  }
}

// Problem documents carry `detail`, `title` and, when input was refused, `errors`; anything else (a proxy's page, say) is shown as the start of its text.
function describe(status: number, text: string): string {
  try {
    const { detail, title, error, errors } = JSON.parse(text) as Record<string, unknown>
    const words = [detail, title, error].find((value) => typeof value === 'string' && value !== '')
    const reasons = Array.isArray(errors) ? errors.filter((value) => typeof value === 'string').join('; ') : ''
    if (words !== undefined) return reasons === '' ? `${status} ${words}` : `${status} ${words}: ${reasons}`
  } catch {
    // Not JSON.
  }
  return `${status} ${text.trim().slice(0, 200) || 'without a reason'}`
}
