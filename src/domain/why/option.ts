import { MAX_OPTIONS, type WhyOption } from '../../contract/why-options.ts'
import { usdOfNanos } from '../money.ts'
import type { Found } from './search.ts'

/** Options as they are shown. Pure. */

/** An option with the hosts that it rests on. */
export interface Advice {
  option: WhyOption
  hostIds: readonly string[]
  /** What it adds to what the account spends, and holds. */
  needs: { nanosPerHour: number; gpus: number; pods: number }
}

/** What an option costs an hour, against what was asked for. */
export function priced(nanosPerHour: number, askedNanosPerHour: number): Pick<WhyOption, 'pricePerHour' | 'priceDifference'> {
  return { pricePerHour: usdOfNanos(nanosPerHour), priceDifference: usdOfNanos(nanosPerHour - askedNanosPerHour) }
}

/** Something that the caller does with one call. */
export function ownOption(
  { kind, summary, nanosPerHour }: Pick<Found<unknown>, 'kind' | 'summary' | 'nanosPerHour'>,
  askedNanosPerHour: number,
  call: NonNullable<WhyOption['call']>,
): WhyOption {
  return { kind, summary, who: 'YOU', call, ...priced(nanosPerHour, askedNanosPerHour), waitSeconds: null }
}

/** Something that only the operator does. */
export function operatorOption(kind: WhyOption['kind'], summary: string, nanosPerHour: number): WhyOption {
  return { kind, summary, who: 'OPERATOR', call: null, ...priced(nanosPerHour, nanosPerHour), waitSeconds: null }
}

/** What ends something of the account comes last, and is not crowded out. */
const KEPT_STOPS = 2

/** The cheapest first, at most as many as an answer has; of equal price as they were found. */
export function cheapestAdvice(advice: readonly Advice[]): Advice[] {
  const sorted = advice.toSorted((a, b) => a.option.priceDifference - b.option.priceDifference)
  const stops = sorted.filter(({ option }) => option.kind === 'STOP').slice(0, KEPT_STOPS)
  const others = sorted.filter(({ option }) => option.kind !== 'STOP')
  return [...others.slice(0, MAX_OPTIONS - stops.length), ...stops]
}
