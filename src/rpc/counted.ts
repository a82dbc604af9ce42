declare const PROOF: unique symbol

/**
 * Proof that a request was counted for the caller of an audit row (SHR-3): no audit row of a caller is written without one. `countRequest`
 * creates it for a request; `countedBy` where another limit bounds the rows, and names that limit.
 */
export interface Counted {
  readonly [PROOF]: true
}

/** Limits of rows of callers for which no request is counted. */
const OTHERS = {
  approval: 'a device that was let in gets one key; letting it in was counted',
  jobLimits: 'cancel, purge and bulk changes have windows of the user for each endpoint (LIM-1)',
  operatorKey: 'only the operator has it',
  signIn: 'a session ends once; its sign-in was counted',
} as const

const COUNTED = Object.freeze({}) as Counted

/** The proof for a counted request. Only `countRequest` may call this. */
export function countedAsRequest(): Counted {
  return COUNTED
}

/** The proof where a limit other than requests bounds the rows. */
export function countedBy(_what: keyof typeof OTHERS): Counted {
  return COUNTED
}
