import { sameValue } from '../same-value.ts'

/** What a resource is at a moment, without its secrets: flat, so that a row can say which members changed. */
export type AuditState = Record<string, unknown>

/** What a row of the audit log keeps of a change: null where the resource was not there. */
export interface Contents {
  before: AuditState | null
  after: AuditState | null
}

/** Most that a row keeps of one side of a change, bytes of JSON (AUD-4). */
export const MAX_STATE_BYTES = 8 * 1024
/** Below this a member is never replaced. */
const MIN_CUT_BYTES = 128
/** What stands in front of a variable's name. */
export const ENV_PREFIX = 'env.'

/** An update as a row keeps it: only the members that it changed (AUD-4); one that came has no `before`, one that went no `after`. */
export function changedMembers(before: AuditState, after: AuditState): { before: AuditState; after: AuditState } {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter((name) => !sameValue(before[name], after[name]))
  return { before: pick(before, names), after: pick(after, names) }
}

/** Variables as members of a state: their names, and of each value what only tells equal ones (AUD-3). */
export function hiddenVariables(env: Readonly<Record<string, string>>, digest: (name: string, value: string) => string): AuditState {
  return Object.fromEntries(Object.entries(env).map(([name, value]) => [ENV_PREFIX + name, digest(name, value)]))
}

/**
 * A state that fits into a row (AUD-4): its largest members give way to `{bytes, digest}`, one after the other. Of more variables than fit
 * one member `env` tells how many there were.
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
  return { ...pick(state, rest), env: { variables: Object.keys(variables).length, bytes: text.length, digest: digest('env', text) } }
}

function pick(state: AuditState, names: readonly string[]): AuditState {
  return Object.fromEntries(names.filter((name) => state[name] !== undefined).map((name) => [name, state[name]]))
}

function bytesOf(value: unknown): number {
  return new TextEncoder().encode(JSON.stringify(value)).length
}
