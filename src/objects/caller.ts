import { type Cause, setCause } from './cause.ts'

const USER_HEADER = 'x-podplane-user'
const EXEMPT_HEADER = 'x-podplane-exempt'

/** Who makes a client call of the job API, as the endpoint object needs to know it: for limits and idempotency keys. */
export interface Caller {
  userId: string
  /** No limits apply (AUT-4a). */
  exempt: boolean
  /** Who it is for the audit log; absent where a call is none of its. */
  cause?: Cause
}

/** The request with its caller written into it; whatever a client put there itself is replaced. */
export function withCaller(request: Request, caller: Caller): Request {
  const named = new Request(request)
  named.headers.set(USER_HEADER, caller.userId)
  if (caller.exempt) named.headers.set(EXEMPT_HEADER, '1')
  else named.headers.delete(EXEMPT_HEADER)
  setCause(named.headers, caller.cause)
  return named
}

/** What `withCaller` wrote. Only the Worker calls the object, so the headers can be believed there. */
export function callerOf(request: Request): Caller {
  return { userId: request.headers.get(USER_HEADER) ?? '', exempt: request.headers.has(EXEMPT_HEADER) }
}
