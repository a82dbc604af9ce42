import { ApiError, ConnectionError } from '../../client/errors.ts'
import { errorText, OperatorError } from '../../node/fail.ts'
import { EXIT } from './exit-codes.ts'

/** Error that the command line itself raises; `message` is written for users. */
export class CliError extends OperatorError {
  override readonly name = 'CliError'
  readonly exitCode: number
  /** Machine-readable code. */
  readonly code: string
  /** Resource that exists and is billed although the command has failed (CMD-3). */
  readonly resource: string | undefined
  /** Next step for the user. */
  readonly hint: string | undefined

  constructor(exitCode: number, code: string, message: string, more: { resource?: string; hint?: string } = {}) {
    super(message)
    this.exitCode = exitCode
    this.code = code
    this.resource = more.resource
    this.hint = more.hint
  }
}

/** Returns an error for an invalid command line or file, with exit code 2. */
export function usage(message: string, hint?: string): CliError {
  return new CliError(EXIT.USAGE, 'usage', message, hint === undefined ? {} : { hint })
}

/** Reason of the abort signal after an interrupt. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted'
}
/** Reason of the abort signal after `--timeout` has expired. */
export class TimedOut extends Error {
  override readonly name = 'TimedOut'
}

/** Error as programs read it: with `--json`, one object on stderr (CMD-3). */
export interface Failure {
  title?: string
  status?: number
  detail: string
  errors?: readonly string[]
  code: string
  retryable: boolean
  /** Seconds. */
  retryAfter?: number
  requestId?: string
  exitCode: number
  resource?: string
}

const CAPACITY_CODES = new Set(['NO_CAPACITY', 'NO_FREE_GPU'])
const OPERATOR_HINT = 'PODPLANE_OPERATOR_KEY is not the key of an operator of this plane'
/** Command for the list operation that an API error names. */
const LISTS: readonly (readonly [call: RegExp, command: string])[] = [
  [/GET \/v2\/catalog\/gpus\b/, 'podplane gpus list'],
  [/GET \/v2\/catalog\/cpus\b/, 'podplane cpus list'],
  [/GET \/v2\/catalog\/datacenters\b/, 'podplane data-centers list'],
]
const HINTS: Readonly<Record<number, string>> = {
  401: 'the key is unknown to this plane, expired or revoked: podplane auth status shows the key in use, podplane auth login gets a new one',
  403: 'podplane auth status shows the key in use, podplane keys list the permissions of your keys',
  426: 'use the dist/podplane.mjs of the release of the plane',
}

/** How the API says that nothing has room, in the words of the API that it is compatible with: a CLI has no page to refresh. */
const NO_CAPACITY = /^There are no longer any instances available with the requested specifications\. Please refresh and try again/

/** Maps an error to its exit code, message and hint (CMD-2, CMD-3). */
export function failureOf(error: unknown): Failure & { hint?: string } {
  if (error instanceof CliError) {
    const { message, code, exitCode, resource, hint } = error
    const retryable = exitCode === EXIT.UNREACHABLE || exitCode === EXIT.TIMED_OUT
    return { detail: message, code, retryable, exitCode, ...(resource && { resource }), ...(hint && { hint }) }
  }
  if (error instanceof ApiError) return ofApi(error)
  if (error instanceof ConnectionError) {
    // The client repeats only requests that are safe to repeat; for POST and PATCH, a request without an answer may have been carried out.
    const isUnsure = /^(POST|PATCH) /.test(error.what) && !isRefusal(error.cause)
    const doubt = isUnsure ? `; it is unknown whether ${error.what.split('?')[0]} was carried out` : ''
    const detail = `${error.url ?? 'the plane'} does not answer: ${errorText(error.cause)}${doubt}`
    return {
      detail,
      code: 'network_error',
      retryable: true,
      exitCode: EXIT.UNREACHABLE,
      hint: isUnsure
        ? 'check the resource before you send the request again'
        : 'is the plane running? podplane doctor checks the connection',
    }
  }
  if (error instanceof Interrupted) return { detail: 'interrupted', code: 'interrupted', retryable: true, exitCode: EXIT.INTERRUPTED }
  if (error instanceof TimedOut) return { detail: error.message, code: 'wait_timeout', retryable: true, exitCode: EXIT.TIMED_OUT }
  if (error instanceof OperatorError) return { detail: error.message, code: 'usage', retryable: false, exitCode: EXIT.USAGE }
  return { detail: errorText(error), code: 'internal', retryable: false, exitCode: EXIT.BAD_OUTCOME }
}

function ofApi(error: ApiError): Failure & { hint?: string } {
  const hint = hintOf(error)
  return {
    status: error.status,
    ...(error.title !== undefined && { title: error.title }),
    detail: error.detail.replace(NO_CAPACITY, 'No machine has room'),
    ...(error.errors.length > 0 && { errors: error.errors }),
    code: error.code ?? `http_${error.status}`,
    retryable: error.retryable,
    ...(error.retryAfterMs !== undefined && { retryAfter: Math.ceil(error.retryAfterMs / 1_000) }),
    ...(error.requestId !== undefined && { requestId: error.requestId }),
    exitCode: exitCodeOfStatus(error.status, error.code),
    ...(hint !== undefined && { hint }),
  }
}

function hintOf({ status, message, detail }: ApiError): string | undefined {
  if (status === 401 && / \/admin\//.test(message)) return OPERATOR_HINT
  const list = LISTS.find(([call]) => call.test(detail))
  return list === undefined ? HINTS[status] : `${list[1]} shows the valid values`
}

/** Returns the exit code for an HTTP status and the code of an API error. */
export function exitCodeOfStatus(status: number, code?: string): number {
  if (code !== undefined && CAPACITY_CODES.has(code)) return EXIT.NO_CAPACITY
  if (status === 401 || status === 403) return EXIT.NOT_ALLOWED
  if (status === 404 || status === 410) return EXIT.NOT_FOUND
  if (status === 402 || status === 429) return EXIT.NO_CAPACITY
  if (status >= 500) return EXIT.UNREACHABLE
  return EXIT.REFUSED
}

/** Whether the connection was refused, so that nothing was sent. */
function isRefusal(cause: unknown): boolean {
  for (let at = cause; at instanceof Error; at = at.cause) if ((at as NodeJS.ErrnoException).code === 'ECONNREFUSED') return true
  return false
}
