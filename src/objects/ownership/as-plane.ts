import { Owned, type OwnedKind } from '../owned.ts'

/** Reasons for which the plane itself, not a tenant's request, accesses an object; always by an id from one of its own rows. */
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

/** Proof for accesses of the plane itself. `test/architecture.test.ts` lists the files that may use it, each with its reasons. */
export function asPlane<Kind extends OwnedKind>(kind: Kind, id: string, _reason: PlaneReason): Owned<Kind, null> {
  return Owned.prove(kind, id, null)
}

/** A host that the operator names: the route has checked the operator's key (AUT-4a), and the operation that the host exists. */
export function asOperator(hostId: string): Owned<'host', null> {
  return Owned.prove('host', hostId, null)
}
