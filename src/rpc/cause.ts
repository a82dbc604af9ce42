import type { AuditRow } from '../db/audit.ts'
import type { Counted } from './counted.ts'

declare const PAID: unique symbol
type Actor = Pick<AuditRow, 'actorKind' | 'userId' | 'credentialId' | 'requestId'>

/**
 * The actor of a change and its request; both null for changes of the plane itself. Only the functions of this file create one, and for a
 * caller only with the proof that a request was counted (SHR-3).
 */
export type Cause = Actor & { readonly [PAID]: true }

/** Cause of changes by the plane itself. */
export const BY_PLATFORM = { actorKind: 'PLATFORM', userId: null, credentialId: null, requestId: null } as Cause

/** Cause of a change by a caller. Throws if no request was counted: a route without the limiter must write nothing (SHR-3). */
export function byCaller(counted: Counted | undefined, actor: Actor & { actorKind: 'KEY' | 'SESSION' | 'POD' }): Cause {
  if (!counted)
    throw new Error(`a row in the name of a caller (${actor.actorKind}) that no request was counted for: its route needs the limiter`)
  return actor as Cause
}

/** Cause of a change by the operator, whose calls are not counted. */
export function byOperator(actor: Omit<Actor, 'actorKind'>): Cause {
  return { actorKind: 'OPERATOR', ...actor } as Cause
}

/** Cause of a change that a host reported. */
export function byHost(hostId: string): Cause {
  return { actorKind: 'HOST', userId: null, credentialId: hostId, requestId: null } as Cause
}

const HEADER = 'x-podplane-cause'

/** Writes the cause into the headers of a request to an object; replaces such a header of a client. */
export function setCause(headers: Headers, cause: Cause | undefined): void {
  if (cause) headers.set(HEADER, JSON.stringify(cause))
  else headers.delete(HEADER)
}

/** Reads the cause that `setCause` wrote. Only the Worker calls the object, so the header can be trusted. */
export function causeOf(request: Request): Cause {
  const text = request.headers.get(HEADER)
  return text === null ? BY_PLATFORM : (JSON.parse(text) as Cause)
}
