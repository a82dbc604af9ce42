import type { AuditRow } from '../db/audit.ts'
import type { Counted } from './counted.ts'

declare const PAID: unique symbol
type Actor = Pick<AuditRow, 'actorKind' | 'userId' | 'credentialId' | 'requestId'>

/**
 * Who caused a change, and in which request; neither of them for what the plane does by itself. The functions of this file alone make one, and
 * in the name of a caller only with the proof that a request was counted (SHR-3).
 */
export type Cause = Actor & { readonly [PAID]: true }

/** The plane itself did it. */
export const BY_PLATFORM = { actorKind: 'PLATFORM', userId: null, credentialId: null, requestId: null } as Cause

/** A caller did it. Throws where no request was counted: a route without the limiter writes nothing (SHR-3). */
export function byCaller(counted: Counted | undefined, actor: Actor & { actorKind: 'KEY' | 'SESSION' | 'POD' }): Cause {
  if (!counted)
    throw new Error(`a row in the name of a caller (${actor.actorKind}) that no request was counted for: its route needs the limiter`)
  return actor as Cause
}

/** The operator did it, whose calls are not counted. */
export function byOperator(actor: Omit<Actor, 'actorKind'>): Cause {
  return { actorKind: 'OPERATOR', ...actor } as Cause
}

/** A host said so. */
export function byHost(hostId: string): Cause {
  return { actorKind: 'HOST', userId: null, credentialId: hostId, requestId: null } as Cause
}

const HEADER = 'x-podplane-cause'

/** Writes into a request who is behind it, for the object that it goes to; whatever a client put there itself is replaced. */
export function setCause(headers: Headers, cause: Cause | undefined): void {
  if (cause) headers.set(HEADER, JSON.stringify(cause))
  else headers.delete(HEADER)
}

/** What `setCause` wrote. Only the Worker calls the object, so the header can be believed there. */
export function causeOf(request: Request): Cause {
  const text = request.headers.get(HEADER)
  return text === null ? BY_PLATFORM : (JSON.parse(text) as Cause)
}
