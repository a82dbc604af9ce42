import type { WhyCode } from '../../contract/explain/explain.ts'
import { failedConstraints } from '../host/constraint-text.ts'
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
  return failedConstraints(unfit, MAX_CONSTRAINTS).map(([text, count]) => fact('CONSTRAINT', text, { count, total }))
}
