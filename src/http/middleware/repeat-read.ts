/** Pauses before the second and third try of a read, in milliseconds. */
const PAUSES_MS = [20, 200]

type Answer = () => Response | Promise<Response>

/**
 * Repeats a read that failed because the disk is full (PLANE-12). Another request's write that finds no room resets the object that both
 * use; the reserve of the disk has been released by then. Throws what `answer` throws.
 */
export function repeatRead({ method }: Request, answer: Answer): ReturnType<Answer> {
  return method === 'GET' ? answerRepeatedly(answer) : answer()
}

async function answerRepeatedly(answer: Answer): Promise<Response> {
  let response = await answer()
  for (const pauseMs of PAUSES_MS) {
    if (!(await isStorageFull(response))) break
    await scheduler.wait(pauseMs)
    response = await answer()
  }
  return response
}

async function isStorageFull(response: Response): Promise<boolean> {
  if (response.status !== 503) return false
  const problem: unknown = await response
    .clone()
    .json()
    .catch(() => null)
  return problem !== null && typeof problem === 'object' && 'code' in problem && problem.code === 'STORAGE_FULL'
}
