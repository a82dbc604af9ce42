import type { WhyOption } from '../../../contract/why/why.ts'
import { duration, perHour } from '../format.ts'

/** What an option costs, and how much more or less that is. */
export function priceOf({ pricePerHour, priceDifference, waitSeconds }: WhyOption): string {
  if (waitSeconds !== null) return `in about ${duration(waitSeconds * 1_000)}, then ${perHour(pricePerHour)}`
  if (priceDifference === 0) return perHour(pricePerHour)
  const sign = priceDifference > 0 ? '+' : '−'
  return `${perHour(pricePerHour)}, ${sign}${perHour(Math.abs(priceDifference))}`
}

/** Why an option cannot be taken here; undefined: a press does it. */
export function whyNotOption({ who, call }: WhyOption, mayWrite: boolean): string | undefined {
  if (who === 'OPERATOR') return 'Only the operator of the plane can do this.'
  if (call === null) return 'There is nothing to press: it happens by itself.'
  return mayWrite ? undefined : 'Your role may look, not change.'
}

/** Where the plane answers with the thing that was made: a pod of its own. */
export function isNewPod({ call }: WhyOption): boolean {
  return call?.method === 'POST' && call.path === '/v2/pods'
}

/** What an option does, as the words of a button. */
export function sentence(summary: string): string {
  return summary.charAt(0).toUpperCase() + summary.slice(1)
}

/** The pod that an option stops; undefined: it stops none. */
export function stoppedPod({ kind, call }: WhyOption): string | undefined {
  return kind === 'STOP' ? call?.path.split('/')[3] : undefined
}
