import { type Config, createClient } from './generated/client/index.ts'
import type { ServerSentEventsOptions } from './generated/core/serverSentEvents.gen.ts'
import { Operations } from './generated/sdk.gen.ts'
import type { ErrorResponse } from './generated/types.gen.ts'

export type * from './generated/types.gen.ts'

/** Longer than the longest hold of the plane (`/runsync?wait=300000`). */
const TIMEOUT_MS = 310_000
const DETAIL_MAX_LENGTH = 500

export interface PodplaneOptions {
  /** Origin of the plane, without `/v2`. */
  baseUrl: string
  apiKey: string
  /** Longest wait until an answer begins. */
  timeoutMs?: number
  /** Replaces the global `fetch`. */
  fetch?: typeof fetch
}

/** An answer that is not a success. `problem` is what the plane said, in full. */
export class PodplaneError extends Error {
  override readonly name = 'PodplaneError'
  readonly status: number
  readonly problem: ErrorResponse
  /** Of the answer: `retry-after` and the rate limits stand there. */
  readonly headers: Headers

  constructor(response: Response, problem: ErrorResponse) {
    super([problem.detail, ...(problem.errors ?? [])].join('; '))
    this.status = response.status
    this.problem = problem
    this.headers = response.headers
  }
}

/**
 * The operations of a plane, each a method by its id in the API document.
 * A method returns the body of a success and throws a `PodplaneError` otherwise.
 */
export class Podplane extends Operations {
  constructor({ baseUrl, apiKey, timeoutMs = TIMEOUT_MS, fetch: send = fetch }: PodplaneOptions) {
    const config: Config & Pick<ServerSentEventsOptions, 'onSseError'> = {
      baseUrl: baseUrl.replace(/\/+$/, ''),
      auth: apiKey,
      throwOnError: true,
      // A key does not follow to another address.
      redirect: 'error',
      fetch: (input, init) => answerOf(send, new Request(input, init), timeoutMs),
      // A stream is taken up again by itself, unless the plane says that there is none.
      onSseError: (error) => {
        if (error instanceof PodplaneError) throw error
      },
    }
    super({ client: createClient(config) })
  }
}

async function answerOf(send: typeof fetch, request: Request, timeoutMs: number): Promise<Response> {
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(new DOMException(`no answer within ${timeoutMs} ms`, 'TimeoutError')), timeoutMs)
  try {
    const response = await send(request, { signal: AbortSignal.any([request.signal, late.signal]) })
    if (response.ok) return response
    throw new PodplaneError(response, toProblem(await response.text(), response))
  } finally {
    clearTimeout(timer)
  }
}

/** Whatever stands before a plane answers in words of its own. */
function toProblem(text: string, response: Response): ErrorResponse {
  try {
    const body: unknown = JSON.parse(text)
    if (typeof body === 'object' && body !== null && 'detail' in body) return body as ErrorResponse
  } catch {
    // Not JSON.
  }
  const detail = text.trim().slice(0, DETAIL_MAX_LENGTH) || `HTTP ${response.status}`
  return { title: 'Unexpected answer', status: response.status, detail }
}
