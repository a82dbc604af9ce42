import type { SIGN_IN_WAYS } from './console.ts'

/**
 * What a credential can be derived from (DER-1). `KEY` is an API key by its id, `OPERATOR_KEY` the operator's key by its digest,
 * `OPERATOR_ADDRESS` a user, by id, whose address `OIDC_OPERATORS` lists. `UNKNOWN` names nothing, and is never good.
 */
export const PARENT_KINDS = ['KEY', 'OPERATOR_KEY', 'OPERATOR_ADDRESS', 'UNKNOWN'] as const

/** The credential or standing that another one is derived from, and ends with. */
export interface Parent {
  kind: (typeof PARENT_KINDS)[number]
  id: string
}

const UNKNOWN: Parent = { kind: 'UNKNOWN', id: '' }

/** A parent as a column holds it. */
export function writeParent({ kind, id }: Parent): string {
  return `${kind}:${id}`
}

/** A parent from its column. A text that names none makes the row unusable, because nobody can tell when it ends. */
export function readParent(text: string | null): Parent {
  const [, name, id = ''] = /^([A-Z_]+):(.+)$/.exec(text ?? '') ?? []
  const kind = PARENT_KINDS.find((known) => known === name)
  return kind === undefined ? UNKNOWN : { kind, id }
}

/** What of a session says what it is derived from. */
export interface SessionOrigin {
  made: (typeof SIGN_IN_WAYS)[number]
  userId: string | null
  keyId: string | null
  isOperator: boolean
  parent: string | null
}

/**
 * What a session is derived from (DER-2); null: from nothing but its user. A session by link of the previous version names no parent: an
 * operator's has ended, a user's goes on until its time is over (DER-3).
 */
export function parentOfSession({ made, keyId, isOperator, parent }: SessionOrigin): Parent | null {
  if (made === 'OIDC') return null
  if (made === 'LINK') return parent === null && !isOperator ? null : readParent(parent)
  return keyId === null ? UNKNOWN : { kind: made, id: keyId }
}

/** What a link is derived from that an operator makes by this session: of one that signs in at the provider, its listed address (DER-3). */
export function parentOfLinkBy(session: SessionOrigin): Parent {
  if (session.made === 'OIDC') return session.userId === null ? UNKNOWN : { kind: 'OPERATOR_ADDRESS', id: session.userId }
  return parentOfSession(session) ?? UNKNOWN
}
