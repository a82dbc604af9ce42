import { z } from 'zod'

/**
 * All problems of the platform, by key (ERR-2). Clients match some of these details, so they must not change by a byte. A thrower may give
 * a more specific detail where a rule names one.
 */
export const PROBLEMS = {
  badRequest: { status: 400, title: 'Bad Request', detail: 'request could not be processed' },
  missingToken: { status: 401, title: 'Unauthorized', detail: 'missing bearer token' },
  invalidToken: { status: 401, title: 'Unauthorized', detail: 'invalid bearer token' },
  insufficientBalance: { status: 402, title: 'Payment Required', detail: 'insufficient balance' },
  accountSuspended: {
    status: 403,
    title: 'Forbidden',
    detail: 'this account is suspended by the operator of the plane: none of its workloads runs, and its jobs wait',
  },
  accessDenied: { status: 403, title: 'Forbidden', detail: 'access denied' },
  notFound: { status: 404, title: 'Not Found', detail: 'resource not found' },
  pathNotFound: { status: 404, title: 'Not Found', detail: 'The requested path was not found.' },
  methodNotAllowed: { status: 405, title: 'Method Not Allowed', detail: 'The requested method is not allowed for this path.' },
  conflict: { status: 409, title: 'Conflict', detail: 'the resource is not in a state that allows this' },
  gone: { status: 410, title: 'Gone', detail: 'this path has been retired' },
  preconditionFailed: { status: 412, title: 'Precondition Failed', detail: 'the resource is not as If-Match says; read it again' },
  payloadTooLarge: { status: 413, title: 'Payload Too Large', detail: 'request body exceeds 102400 bytes' },
  unsupportedMediaType: { status: 415, title: 'Unsupported Media Type', detail: 'content type must be application/json' },
  validationFailed: { status: 422, title: 'Unprocessable Entity', detail: 'Request validation failed.' },
  upgradeRequired: { status: 426, title: 'Upgrade Required', detail: 'the client is too old for this plane' },
  rateLimited: { status: 429, title: 'Too Many Requests', detail: 'rate limit exceeded for the minute window' },
  internal: { status: 500, title: 'Internal Server Error', detail: 'an unexpected error occurred' },
  badGateway: { status: 502, title: 'Bad Gateway', detail: 'the worker did not answer' },
  unavailable: { status: 503, title: 'Service Unavailable', detail: 'the service cannot answer right now' },
  storageFull: {
    status: 503,
    title: 'Storage Full',
    detail: 'the plane has no room left to write this; what is stored can be read, and writes work again once its operator has made room',
  },
  timedOut: { status: 504, title: 'Gateway Timeout', detail: 'no answer in time' },
  /** Cloudflare's status for a server that was reached and did not answer. */
  silentServer: { status: 524, title: 'A Timeout Occurred', detail: 'the server was reached and did not answer in time' },
} as const satisfies Record<string, { status: number; title: string; detail: string }>

export type ProblemKey = keyof typeof PROBLEMS

/** Members that a thrower may add to an entry of `PROBLEMS`. */
export interface ProblemOptions {
  detail?: string
  /** Validation failures, each starting with a JSONPath-like location (ERR-4). */
  errors?: readonly string[]
  /** Code for programs (ERR-7), such as NO_CAPACITY, NO_FREE_GPU, RULE, LOCKED, IN_USE. */
  code?: string
  headers?: Readonly<Record<string, string>>
  cause?: unknown
}

/** A refusal that a pure decision returns; services turn it into a thrown `Problem`. */
export interface Refusal extends ProblemOptions {
  key: ProblemKey
}

/** A 400 refusal with its reason; `errors` name the locations and the next steps. */
export function badRequest(detail: string, errors?: readonly string[]): Refusal {
  return { key: 'badRequest', detail, ...(errors && { errors }) }
}

/** The result of a decision that is refused with a 400. */
export function refused(detail: string): { ok: false; problem: Refusal } {
  return { ok: false, problem: badRequest(detail) }
}

/** The only error type that is turned into a response unchanged. Throw it by key; do not build bodies by hand. */
export class Problem extends Error {
  readonly key: ProblemKey
  readonly status: number
  readonly title: string
  readonly detail: string
  readonly errors: readonly string[] | undefined
  readonly code: string | undefined
  readonly headers: Readonly<Record<string, string>>

  constructor(key: ProblemKey, options: ProblemOptions = {}) {
    const entry = PROBLEMS[key]
    const detail = options.detail ?? entry.detail
    super(detail, { cause: options.cause })
    this.name = 'Problem'
    this.key = key
    this.status = entry.status
    this.title = entry.title
    this.detail = detail
    this.errors = options.errors
    this.code = options.code
    this.headers = options.headers ?? {}
  }
}

/** Converts a domain's refusal into a throwable error. */
export function problemOf(refusal: Refusal): Problem {
  return new Problem(refusal.key, refusal)
}

/** The body of a problem (ERR-1): no `type` member; `status` equals the HTTP status. */
export const ProblemBody = z
  .object({
    title: z.string().meta({ description: 'Short summary of the kind of problem.' }),
    status: z.number().int().meta({ description: 'The HTTP status code.' }),
    detail: z.string().meta({ description: 'Description of the problem.' }),
    errors: z.array(z.string()).optional().meta({ description: 'Each validation failure as `<location>: <problem>`.' }),
    code: z.string().optional().meta({ description: 'Stable key for machines, where there is one.' }),
  })
  .meta({
    id: 'ErrorResponse',
    description: 'RFC 9457 problem details.',
    example: {
      title: 'Unprocessable Entity',
      status: 422,
      detail: 'Request validation failed.',
      errors: ["$: missing property 'name'"],
    },
  })
export type ProblemBody = z.infer<typeof ProblemBody>
