import type { SIGN_IN_WAYS } from './console.ts'

/**
 * Kinds of parents from which a credential can be derived (DER-1). `KEY` is an API key by its id, `OPERATOR_KEY` the operator's key by its
 * digest, `OPERATOR_ADDRESS` a user, by id, whose address `OIDC_OPERATORS` lists. `UNKNOWN` identifies no parent and is never valid.
 */
export const PARENT_KINDS = ['KEY', 'OPERATOR_KEY', 'OPERATOR_ADDRESS', 'UNKNOWN'] as const

/** The credential or operator address that another credential is derived from, and ends with. */
export interface Parent {
  kind: (typeof PARENT_KINDS)[number]
  id: string
}

const UNKNOWN: Parent = { kind: 'UNKNOWN', id: '' }

/** A parent in the form of its column. */
export function writeParent({ kind, id }: Parent): string {
  return `${kind}:${id}`
}

/** Parses a parent from its column. A text that names no parent makes the row unusable, because its end cannot be determined. */
export function readParent(text: string | null): Parent {
  const [, name, id = ''] = /^([A-Z_]+):(.+)$/.exec(text ?? '') ?? []
  const kind = PARENT_KINDS.find((known) => known === name)
  return kind === undefined ? UNKNOWN : { kind, id }
}

/** Fields of a session that determine its parent. */
export interface SessionOrigin {
  made: (typeof SIGN_IN_WAYS)[number]
  userId: string | null
  keyId: string | null
  isOperator: boolean
  parent: string | null
}

/**
 * Parent of a session (DER-2); null: the session depends on its user alone. A session by link that names no parent comes from the previous
 * plane version: an operator's is invalid, a user's stays valid until it expires (DER-3).
 */
export function parentOfSession({ made, keyId, isOperator, parent }: SessionOrigin): Parent | null {
  if (made === 'OIDC') return null
  if (made === 'LINK') return parent === null && !isOperator ? null : readParent(parent)
  return keyId === null ? UNKNOWN : { kind: made, id: keyId }
}

/**
 * Parent of a link that an operator makes with this session: the listed address for a sign-in at the provider, otherwise the session's own
 * parent (DER-3).
 */
export function parentOfLinkBy(session: SessionOrigin): Parent {
  if (session.made === 'OIDC') return session.userId === null ? UNKNOWN : { kind: 'OPERATOR_ADDRESS', id: session.userId }
  return parentOfSession(session) ?? UNKNOWN
}
