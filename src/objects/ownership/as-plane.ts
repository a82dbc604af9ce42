import { Owned, type OwnedKind } from '../owned.ts'

/** Why the plane itself, and no tenant's request, reaches an object; always by an id that a row of its own holds. */
export type PlaneReason =
  | 'capacity appeared'
  | 'makes room'
  | 'places work'
  | 'a host says so'
  | 'presence of a host'
  | 'notes what it did'
  | 'is a log still wanted'
  | 'hands a notification over'
  | 'shows notifications of a job'
  | 'seals anew'
  | 'carries a request'
  | 'suspends an account'
  | 'foretells a change of a host'
  | 'explains'
  | 'checks itself'

/** What the plane reaches for itself. `test/architecture.test.ts` names the files that may, each with its reasons. */
export function asPlane<Kind extends OwnedKind>(kind: Kind, id: string, _reason: PlaneReason): Owned<Kind, null> {
  return Owned.prove(kind, id, null)
}

/** A host that the operator names: the route has checked the operator's key (AUT-4a), and the verb that there is such a host. */
export function asOperator(hostId: string): Owned<'host', null> {
  return Owned.prove('host', hostId, null)
}
