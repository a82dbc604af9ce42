import { ApiError } from '../../client/client.ts'
import type { Answer } from '../session/pages.ts'
import type { Session } from '../session/session.ts'

type Pod = Answer<'getPod'>
type Why = Pick<Answer<'explainPod'>, 'verdict' | 'evidence' | 'options' | 'isStale'>

/** State of a pod in a sentence. */
export function sentenceOf(pod: Pick<Pod, 'status' | 'statusReason'>): string {
  return pod.statusReason === null ? pod.status : `${pod.status}: ${pod.statusReason}`
}

/** Reason why a pod does not run yet, from the plane's explanation. */
export async function explainPodWait(session: Session, pod: Pick<Pod, 'id' | 'status' | 'statusReason'>): Promise<string> {
  try {
    const { verdict } = await session.api.explainPod({ path: { id: pod.id } })
    return `${pod.status}: ${verdict}`
  } catch (error) {
    // The explanation is optional: the wait continues without it.
    if (error instanceof ApiError) return sentenceOf(pod)
    throw error
  }
}

/** Verdict, evidence, and the changes that would start it now with their prices. */
export function formatExplanation({ verdict, evidence, options, isStale }: Why): string {
  const facts = evidence.map(({ text, count, total }) => `  - ${text}${count === null || total === null ? '' : ` (${count} of ${total})`}`)
  const changes = options.map((option) => {
    const price =
      option.who === 'OPERATOR'
        ? 'only your operator can do this'
        : option.waitSeconds === null
          ? `$${option.pricePerHour.toFixed(3)}/h`
          : `${option.waitSeconds} s`
    return `  * ${option.summary} (${price})`
  })
  const lines = [verdict, ...facts, ...(changes.length === 0 ? [] : ['Changes that would start it now:', ...changes])]
  if (isStale) lines.push('The data may be old: a host has not reported lately.')
  return `${lines.join('\n')}\n`
}

/** Prints an explanation: as text on a terminal, else the fields of the answer. */
export function printExplanation({ out }: Session, answer: Why & { id: string }): void {
  if (out.isTerminal && !out.isJson) out.raw(formatExplanation(answer))
  else out.record(answer, answer.id)
}
