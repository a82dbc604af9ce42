import { MAX_OPTIONS, type WhyOptionKind } from '../../contract/explain-options.ts'

/**
 * Smallest changes of a request that make it fit (WHY-3). Pure: the caller's own rules decide what fits, so every option has been accepted
 * by them.
 */

/** One step of a change. */
export interface Rung<Asked> {
  /** As in "use …", "with …". */
  summary: string
  apply(asked: Asked): Asked
}

/** Changes of one kind, the smallest first; the first that fits is offered. */
export interface Ladder<Asked> {
  kind: WhyOptionKind
  rungs: readonly Rung<Asked>[]
}

/** Hosts on which a request fits, and its cost there. */
export interface Fit {
  nanosPerHour: number
  hostIds: readonly string[]
}

/** Checks whether a request fits, by the rules that place it; null: it does not. */
export type Probe<Asked> = (asked: Asked) => Fit | null

/** A change with which a request fits. */
export interface Found<Asked> extends Fit {
  kind: WhyOptionKind
  summary: string
  asked: Asked
}

/** Maximum number of requests that one search tries; it bounds the cost of an explanation (WHY-9). */
export const MAX_PROBES = 300

/** Single changes that fit, otherwise pairs of changes; the cheapest first. Empty when the request fits unchanged. */
export function searchOptions<Asked>(
  asked: Asked,
  ladders: readonly Ladder<Asked>[],
  probe: Probe<Asked>,
  maxProbes = MAX_PROBES,
): Found<Asked>[] {
  const search = new Search(probe, maxProbes)
  if (search.fit(asked)) return []
  const singles = ladders.flatMap(({ kind, rungs }) => search.first(rungs.map((rung) => ({ kind, ...applied(asked, [rung]) }))))
  return cheapest(singles.length > 0 ? singles : ladderPairs(ladders).flatMap((pair) => search.first(pairsOf(asked, pair))))
}

type Attempt<Asked> = Omit<Found<Asked>, keyof Fit>

class Search<Asked> {
  private left: number
  private readonly probe: Probe<Asked>

  constructor(probe: Probe<Asked>, left: number) {
    this.probe = probe
    this.left = left
  }

  fit(asked: Asked): Fit | null {
    if (this.left === 0) return null
    this.left -= 1
    return this.probe(asked)
  }

  first(attempts: readonly Attempt<Asked>[]): Found<Asked>[] {
    for (const attempt of attempts) {
      const fit = this.fit(attempt.asked)
      if (fit) return [{ ...attempt, ...fit }]
    }
    return []
  }
}

function applied<Asked>(asked: Asked, rungs: readonly Rung<Asked>[]): { summary: string; asked: Asked } {
  return { summary: rungs.map(({ summary }) => summary).join(' and '), asked: rungs.reduce((changed, rung) => rung.apply(changed), asked) }
}

function ladderPairs<Asked>(ladders: readonly Ladder<Asked>[]): [Ladder<Asked>, Ladder<Asked>][] {
  return ladders.flatMap((one, index) => {
    const others = ladders.slice(index + 1).filter(({ kind }) => kind !== one.kind)
    return others.map((other): [Ladder<Asked>, Ladder<Asked>] => [one, other])
  })
}

/** All pairs of rungs of two ladders, the lowest sum of steps first. */
function pairsOf<Asked>(asked: Asked, [one, other]: readonly [Ladder<Asked>, Ladder<Asked>]): Attempt<Asked>[] {
  const pairs = one.rungs.flatMap((a, low) => other.rungs.map((b, high) => ({ height: low + high, rungs: [a, b] })))
  return pairs.toSorted((a, b) => a.height - b.height).map(({ rungs }) => ({ kind: 'TWO_CHANGES' as const, ...applied(asked, rungs) }))
}

function cheapest<Asked>(found: readonly Found<Asked>[]): Found<Asked>[] {
  return found.toSorted((a, b) => a.nanosPerHour - b.nanosPerHour).slice(0, MAX_OPTIONS)
}
