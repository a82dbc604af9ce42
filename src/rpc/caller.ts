import { type Cause, setCause } from './cause.ts'

const USER_HEADER = 'x-podplane-user'
const EXEMPT_HEADER = 'x-podplane-exempt'

/** The caller of the client job API, as far as the endpoint object needs it: for limits and idempotency keys. */
export interface Caller {
  userId: string
  /** Whether no limits apply (AUT-4a). */
  exempt: boolean
  /** The actor for the audit log; absent for calls that are not audited. */
  cause?: Cause
}

/** The request with its caller in headers; replaces such headers of a client. */
export function withCaller(request: Request, caller: Caller): Request {
  const named = new Request(request)
  named.headers.set(USER_HEADER, caller.userId)
  if (caller.exempt) named.headers.set(EXEMPT_HEADER, '1')
  else named.headers.delete(EXEMPT_HEADER)
  setCause(named.headers, caller.cause)
  return named
}

/** Reads the caller that `withCaller` wrote. Only the Worker calls the object, so the headers can be trusted. */
export function callerOf(request: Request): Caller {
  return { userId: request.headers.get(USER_HEADER) ?? '', exempt: request.headers.has(EXEMPT_HEADER) }
}
