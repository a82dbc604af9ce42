import type { AuditState, Contents } from './change.ts'

/** A resource's state at an instant; null: it did not exist. `isComplete`: no member of it is missing. */
export interface StateAt {
  state: AuditState | null
  isComplete: boolean
}

/**
 * A resource's state at an instant (AUD-9), from its changes up to then (`until`) and later ones (`since`), each oldest first. If its
 * creation is not among the changes, only members that have changed are known.
 */
export function stateAt(until: readonly Contents[], since: readonly Contents[]): StateAt {
  const created = until.findLastIndex(({ before, after }) => before === null && after !== null)
  const last = until.at(-1)
  if (last && last.after === null) return { state: null, isComplete: true }
  if (created >= 0) return { state: Object.fromEntries(members(until.slice(created), [])), isComplete: true }
  if (!last && since[0]?.before === null) return { state: null, isComplete: true }
  return { state: Object.fromEntries(members(until, since)), isComplete: false }
}

// The last change in `until` decides a member's value; if no change there names it, the `before` of the first change in `since` does.
function members(until: readonly Contents[], since: readonly Contents[]): [string, unknown][] {
  const known = new Map<string, unknown>()
  for (const { before, after } of until) {
    for (const name of namesOf(before, after)) known.set(name, after?.[name])
  }
  for (const { before, after } of since) {
    for (const name of namesOf(before, after)) if (!known.has(name)) known.set(name, before?.[name])
  }
  return [...known].filter(([, value]) => value !== undefined)
}

function namesOf(before: AuditState | null, after: AuditState | null): Set<string> {
  return new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])
}
