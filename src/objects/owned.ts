/**
 * Kinds of resources with an object of their own or named after them: the log of a worker or pod, the rate windows of a user, the webhook
 * sender of a team.
 */
export type OwnedKind = 'endpoint' | 'worker' | 'pod' | 'cluster' | 'host' | 'user' | 'team'

/**
 * A resource together with the proof that it may be accessed: stubs accept nothing else, so that no bare id from a request reaches an
 * object (AUT-21, adr/0017). `row` is the row that was read for the proof.
 */
export class Owned<Kind extends OwnedKind, Row = unknown> {
  readonly id: string
  readonly row: Row
  // A private member makes the type nominal, so that no literal of the same shape is accepted.
  readonly #kind: Kind

  private constructor(kind: Kind, id: string, row: Row) {
    this.#kind = kind
    this.id = id
    this.row = row
  }

  /** The caller has checked a proof; test/architecture.test.ts lists the few files that may call this. */
  static prove<Kind extends OwnedKind, Row = null>(kind: Kind, id: string, row: Row): Owned<Kind, Row> {
    return new Owned(kind, id, row)
  }

  get kind(): Kind {
    return this.#kind
  }

  /** The same resource after a change of its row. Throws for a row with another id. */
  with<Next extends { id: string }>(row: Next): Owned<Kind, Next> {
    if (row.id !== this.id) throw new Error(`the row of ${this.#kind} ${this.id} cannot become that of ${row.id}`)
    return new Owned(this.#kind, this.id, row)
  }
}
