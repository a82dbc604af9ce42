import type { CreatePodRequest } from '../../contract/pods/pods.ts'
import { Problem } from '../../contract/problems.ts'
import type { VerbContext } from '../context.ts'
import { type CreateOptions, createPod } from './create-pod.ts'
import type { TaggedPod } from './pods.ts'

/**
 * Creates a pod from the first of these bodies that a host can take (LEG-6). The key applies to all of them together: `asked` is the
 * client's request. A 400 moves on to the next body (ERR-3); after the last one the error lists each refusal. Throws the errors of
 * `createPod`.
 */
export async function createFirstFit(
  ctx: VerbContext,
  bodies: readonly CreatePodRequest[],
  asked: unknown,
  idempotencyKey: string | undefined,
  options: CreateOptions = {},
): Promise<TaggedPod> {
  const refusals: { body: CreatePodRequest; problem: Problem }[] = []
  for (const body of bodies) {
    try {
      return await createPod(ctx, body, idempotencyKey, asked, options)
    } catch (error) {
      if (!(error instanceof Problem) || error.key !== 'badRequest') throw error
      refusals.push({ body, problem: error })
    }
  }
  throw refuseAll(refusals)
}

function refuseAll(refusals: readonly { body: CreatePodRequest; problem: Problem }[]): Problem {
  const [first] = refusals
  if (!first || refusals.length === 1) return first?.problem ?? new Problem('badRequest')
  const isSame = refusals.every(({ problem }) => problem.detail === first.problem.detail)
  if (isSame && refusals.every(({ problem }) => !problem.errors?.length)) return first.problem
  const each = refusals.map(({ body, problem }) => {
    const why = isSame ? '' : `${problem.detail} `
    return `${body.gpu?.id ?? body.cpu?.id}: ${why}${(problem.errors ?? []).join(', ')}`.trim()
  })
  // The text of the capacity refusal comes first, because clients retry by that text, whatever else is missing (GQL-73).
  const lacking = refusals.find(({ problem }) => problem.code === 'NO_CAPACITY')?.problem
  const { code } = lacking ?? first.problem
  const shared = lacking ?? (isSame ? first.problem : undefined)
  const detail = shared?.detail ?? `None of the ${refusals.length} suitable machine types is available.`
  return new Problem('badRequest', { detail, errors: each, ...(code !== undefined && { code }) })
}
