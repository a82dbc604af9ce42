import type { AuditRow } from '../db/audit.ts'

/** Who caused a change, and in which request; neither of them for what the plane does by itself. */
export type Cause = Pick<AuditRow, 'actorKind' | 'userId' | 'credentialId' | 'requestId'>

/** The plane itself did it. */
export const BY_PLATFORM: Cause = { actorKind: 'PLATFORM', userId: null, credentialId: null, requestId: null }

/** A host said so. */
export function byHost(hostId: string): Cause {
  return { actorKind: 'HOST', userId: null, credentialId: hostId, requestId: null }
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
