import { Owned, type OwnedKind } from '../owned.ts'

/** Reasons for which the plane itself, not a tenant's request, accesses an object; always by an id from one of its own rows. */
export type PlaneReason =
  | 'capacity appeared'
  | 'preempts workers'
  | 'frees space in an archive'
  | 'places a workload'
  | 'a host reports it'
  | 'presence of a host'
  | 'writes a system line'
  | 'checks the owner of a log'
  | 'sends a notification'
  | 'shows notifications of a job'
  | 'reseals values'
  | 'forwards a request'
  | 'suspends an account'
  | 'previews a change of a host'
  | 'explains'
  | 'checks its readiness'

/** Proof for accesses of the plane itself. `test/architecture.test.ts` lists the files that may use it, each with its reasons. */
export function asPlane<Kind extends OwnedKind>(kind: Kind, id: string, _reason: PlaneReason): Owned<Kind, null> {
  return Owned.prove(kind, id, null)
}

/** A host that the operator names: the route has checked the operator's key (AUT-4a), and the operation that the host exists. */
export function asOperator(hostId: string): Owned<'host', null> {
  return Owned.prove('host', hostId, null)
}
