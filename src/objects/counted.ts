declare const PROOF: unique symbol

/**
 * Proof that whoever causes a row has had a request counted for it (SHR-3): no row of the audit log is written in the name of a caller without
 * one. `countRequest` makes it of a request; `countedBy` where something else bounds the rows, and says what.
 */
export interface Counted {
  readonly [PROOF]: true
}

/** What bounds rows of callers that no request of theirs is counted for. */
const OTHERS = {
  approval: 'a device that was let in gets one key; letting it in was counted',
  jobLimits: 'cancel, purge and bulk changes have windows of the user for each endpoint (LIM-1)',
  operatorKey: 'only the operator has it',
  signIn: 'a session ends once; its sign-in was counted',
} as const

const COUNTED = Object.freeze({}) as Counted

/** The proof of a request that was counted. For `countRequest` alone. */
export function countedAsRequest(): Counted {
  return COUNTED
}

/** The proof where something other than a request bounds the rows. */
export function countedBy(_what: keyof typeof OTHERS): Counted {
  return COUNTED
}
