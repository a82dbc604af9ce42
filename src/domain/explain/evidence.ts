import type { WhyCode } from '../../contract/explain/explain.ts'
import { describeConstraint } from '../host/constraint-text.ts'
import type { UnfitHost } from '../host/placement.ts'

/** A fact that a verdict is based on. Pure. */
export interface Fact {
  kind: 'STATE' | 'QUEUE' | 'WORKERS' | 'SCALER' | 'CONSTRAINT' | 'LIMIT' | 'RETRY'
  text: string
  count: number | null
  total: number | null
  atMs: number | null
}

/** An explanation without its options (WHY-1). */
export interface Verdict {
  code: WhyCode
  verdict: string
  sinceMs: number | null
  facts: Fact[]
}

/** Maximum number of constraints that one explanation names. */
const MAX_CONSTRAINTS = 8

/** A fact with its known numbers; the others are null. */
export function fact(kind: Fact['kind'], text: string, known: Partial<Pick<Fact, 'count' | 'total' | 'atMs'>> = {}): Fact {
  return { kind, text, count: null, total: null, atMs: null, ...known }
}

/**
 * Failed constraints with the number of hosts on which each failed, the most frequent first (WHY-2). Hosts are not named, because they are
 * the operator's concern.
 */
export function constraintFacts(unfit: readonly UnfitHost[], total = unfit.length): Fact[] {
  const counts = new Map<string, number>()
  for (const { failed } of unfit) {
    for (const text of new Set(failed.map(describeConstraint))) counts.set(text, (counts.get(text) ?? 0) + 1)
  }
  const ordered = [...counts].toSorted(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))
  return ordered.slice(0, MAX_CONSTRAINTS).map(([text, count]) => fact('CONSTRAINT', text, { count, total }))
}
