import { MAX_OPTIONS, type WhyOption } from '../../contract/explain-options.ts'
import { usdOfNanos } from '../money.ts'
import type { Found } from './search.ts'

/** Options in the form in which they are shown. Pure. */

/** An option with the hosts that it is based on. */
export interface Advice {
  option: WhyOption
  hostIds: readonly string[]
  /** Amounts that the option adds to the account's spending and quotas. */
  needs: { nanosPerHour: number; gpus: number; pods: number }
}

/** Price of an option in USD per hour, and its difference from the price of the original request. */
export function priced(nanosPerHour: number, askedNanosPerHour: number): Pick<WhyOption, 'pricePerHour' | 'priceDifference'> {
  return { pricePerHour: usdOfNanos(nanosPerHour), priceDifference: usdOfNanos(nanosPerHour - askedNanosPerHour) }
}

/** Option that the caller carries out with one call. */
export function ownOption(
  { kind, summary, nanosPerHour }: Pick<Found<unknown>, 'kind' | 'summary' | 'nanosPerHour'>,
  askedNanosPerHour: number,
  call: NonNullable<WhyOption['call']>,
): WhyOption {
  return { kind, summary, who: 'YOU', call, ...priced(nanosPerHour, askedNanosPerHour), waitSeconds: null }
}

/** Option that only the operator can carry out. */
export function operatorOption(kind: WhyOption['kind'], summary: string, nanosPerHour: number): WhyOption {
  return { kind, summary, who: 'OPERATOR', call: null, ...priced(nanosPerHour, nanosPerHour), waitSeconds: null }
}

/** Number of places reserved for options that stop a pod of the account; they come last. */
const KEPT_STOPS = 2

/** The cheapest options, at most `MAX_OPTIONS`, in a stable order for equal prices. */
export function cheapestAdvice(advice: readonly Advice[]): Advice[] {
  const sorted = advice.toSorted((a, b) => a.option.priceDifference - b.option.priceDifference)
  const stops = sorted.filter(({ option }) => option.kind === 'STOP').slice(0, KEPT_STOPS)
  const others = sorted.filter(({ option }) => option.kind !== 'STOP')
  return [...others.slice(0, MAX_OPTIONS - stops.length), ...stops]
}
