import type { Answer } from '../core/pages.ts'
import type { Session } from '../core/session.ts'

type Pod = Answer<'getPod'>

/** Why a pod is where it is, in a sentence. */
export function sentenceOf(pod: Pick<Pod, 'status' | 'statusReason'>): string {
  return pod.statusReason === null ? pod.status : `${pod.status}: ${pod.statusReason}`
}

export async function printWhy(session: Session, id: string): Promise<void> {
  const { status, statusReason, actions } = await session.api.getPod({ path: { id } })
  session.out.record({ id, status, statusReason, actions }, id)
}
