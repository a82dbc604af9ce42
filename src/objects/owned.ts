/** What has an object of its own, or one that is named after it: the log of a worker or pod, the windows of a user, the sender of a team. */
export type OwnedKind = 'endpoint' | 'worker' | 'pod' | 'cluster' | 'host' | 'user' | 'team'

/**
 * A thing that may be reached, and the proof of it: stubs take nothing else, so that no bare id from a request becomes an object (PP-190,
 * adr/0017). `row` is what was read to prove it.
 */
export class Owned<Kind extends OwnedKind, Row = unknown> {
  readonly id: string
  readonly row: Row
  // A private member makes the type nominal: no literal of the same shape can stand for it.
  readonly #kind: Kind

  private constructor(kind: Kind, id: string, row: Row) {
    this.#kind = kind
    this.id = id
    this.row = row
  }

  /** Whoever calls this has looked at a proof: the few files that may are named in test/architecture.test.ts. */
  static prove<Kind extends OwnedKind, Row = null>(kind: Kind, id: string, row: Row): Owned<Kind, Row> {
    return new Owned(kind, id, row)
  }

  get kind(): Kind {
    return this.#kind
  }

  /** The same thing after a change of its row. */
  with<Next extends { id: string }>(row: Next): Owned<Kind, Next> {
    if (row.id !== this.id) throw new Error(`the row of ${this.#kind} ${this.id} cannot become that of ${row.id}`)
    return new Owned(this.#kind, this.id, row)
  }
}
