import { sameValue } from '../same-value.ts'

/** A resource's state at an instant, without its secrets: a flat record, so that a log row can name the members that changed. */
export type AuditState = Record<string, unknown>

/** The change that an audit log row stores: `before` is null for a creation, `after` for a deletion. */
export interface Contents {
  before: AuditState | null
  after: AuditState | null
}

/** Upper bound of one side of a stored change, in bytes of JSON (AUD-4). */
export const MAX_STATE_BYTES = 8 * 1024
/** A member smaller than this, in bytes of JSON, is never replaced by its digest. */
const MIN_CUT_BYTES = 128
/** Prefix of an environment variable's name as a member of a state. */
export const ENV_PREFIX = 'env.'

/** The members that an update changed (AUD-4). An added member is missing in `before`, a removed one in `after`. */
export function changedMembers(before: AuditState, after: AuditState): { before: AuditState; after: AuditState } {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter((name) => !sameValue(before[name], after[name]))
  return { before: pick(before, names), after: pick(after, names) }
}

/** Environment variables as members of a state: their names, with digests as values that show only which values are equal (AUD-3). */
export function hiddenVariables(env: Readonly<Record<string, string>>, digest: (name: string, value: string) => string): AuditState {
  return Object.fromEntries(Object.entries(env).map(([name, value]) => [ENV_PREFIX + name, digest(name, value)]))
}

/**
 * A state that fits into a row (AUD-4): its largest members are replaced by `{bytes, digest}`, one after the other. If it is still too
 * large, one member `env` with the number of variables replaces all of them.
 */
export function bounded(state: AuditState | null, digest: (name: string, text: string) => string): AuditState | null {
  if (state === null || bytesOf(state) <= MAX_STATE_BYTES) return state
  const cut = cutLargest(state, digest)
  return bytesOf(cut) <= MAX_STATE_BYTES ? cut : cutLargest(cutVariables(cut, digest), digest)
}

function cutLargest(state: AuditState, digest: (name: string, text: string) => string): AuditState {
  const cut = { ...state }
  const sizes = Object.entries(state).map(([name, value]) => ({ name, bytes: bytesOf(value) }))
  let total = bytesOf(state)
  for (const { name, bytes } of sizes.toSorted((a, b) => b.bytes - a.bytes)) {
    if (total <= MAX_STATE_BYTES || bytes < MIN_CUT_BYTES) break
    cut[name] = { bytes, digest: digest(name, JSON.stringify(state[name])) }
    total -= bytes - bytesOf(cut[name])
  }
  return cut
}

function cutVariables(state: AuditState, digest: (name: string, text: string) => string): AuditState {
  const isVariable = (name: string) => name.startsWith(ENV_PREFIX)
  const names = Object.keys(state)
  const variables = pick(state, names.filter(isVariable))
  const text = JSON.stringify(variables)
  const rest = names.filter((name) => !isVariable(name))
  return { ...pick(state, rest), env: { variables: Object.keys(variables).length, bytes: bytesOf(variables), digest: digest('env', text) } }
}

function pick(state: AuditState, names: readonly string[]): AuditState {
  return Object.fromEntries(names.filter((name) => state[name] !== undefined).map((name) => [name, state[name]]))
}

function bytesOf(value: unknown): number {
  return new TextEncoder().encode(JSON.stringify(value)).length
}
