import type { WhyOption } from '../../../contract/explain/explain.ts'
import { duration, perHour } from '../format.ts'

/** Price of an option, and its difference to the present price. */
export function priceOf({ pricePerHour, priceDifference, waitSeconds }: WhyOption): string {
  if (waitSeconds !== null) return `in about ${duration(waitSeconds * 1_000)}, then ${perHour(pricePerHour)}`
  if (priceDifference === 0) return perHour(pricePerHour)
  const sign = priceDifference > 0 ? '+' : '−'
  return `${perHour(pricePerHour)}, ${sign}${perHour(Math.abs(priceDifference))}`
}

/** Reason why an option cannot be applied here; undefined if it can. */
export function whyNotOption({ who, call }: WhyOption, mayWrite: boolean): string | undefined {
  if (who === 'OPERATOR') return 'Only the operator of the plane can do this.'
  if (call === null) return 'No action is needed: this happens automatically.'
  return mayWrite ? undefined : 'Your role may view this but not change it.'
}

/** Whether the option creates a pod, so that the answer is the new pod. */
export function isNewPod({ call }: WhyOption): boolean {
  return call?.method === 'POST' && call.path === '/v2/pods'
}

/** Summary of an option as the label of a button. */
export function sentence(summary: string): string {
  return summary.charAt(0).toUpperCase() + summary.slice(1)
}

/** Id of the pod that an option stops; undefined if it stops none. */
export function stoppedPod({ kind, call }: WhyOption): string | undefined {
  return kind === 'STOP' ? call?.path.split('/')[3] : undefined
}
