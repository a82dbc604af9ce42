import type { AuditState, Contents } from './change.ts'

/** What a resource was at a moment; null: it was not there. `isComplete`: no member of it is missing. */
export interface StateAt {
  state: AuditState | null
  isComplete: boolean
}

/**
 * What a resource was at a moment (AUD-9), from its changes until then and those since, each oldest first. Of a resource whose creation is no
 * longer among them only members that have changed are known.
 */
export function stateAt(until: readonly Contents[], since: readonly Contents[]): StateAt {
  const created = until.findLastIndex(({ before, after }) => before === null && after !== null)
  const last = until.at(-1)
  if (last && last.after === null) return { state: null, isComplete: true }
  if (created >= 0) return { state: Object.fromEntries(members(until.slice(created), [])), isComplete: true }
  if (!last && since[0]?.before === null) return { state: null, isComplete: true }
  return { state: Object.fromEntries(members(until, since)), isComplete: false }
}

// What changes until the moment have made of each member counts first; where they say nothing, what the next change since has found.
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
