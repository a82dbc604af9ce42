import type { ApiClient } from '../client/client.ts'

interface Part {
  part: string
  looked: number
  resealed: number
  /** Ids of the failed entries. */
  failed: string[]
}

/** Reseals all sealed data of the plane step by step and sums up the results of each part (SEAL-3, SEAL-4). */
export async function resealAll(api: Pick<ApiClient, 'reseal'>): Promise<{ parts: Part[]; isComplete: boolean }> {
  const parts = new Map<string, Part>()
  let cursor: string | null | undefined
  while (cursor !== null) {
    const { step, nextCursor, ...done } = await api.reseal({ body: cursor === undefined ? {} : { cursor } })
    const sum = parts.get(step) ?? { part: step, looked: 0, resealed: 0, failed: [] }
    parts.set(step, {
      part: step,
      looked: sum.looked + done.looked,
      resealed: sum.resealed + done.resealed,
      failed: [...sum.failed, ...done.failed],
    })
    cursor = nextCursor
  }
  const list = [...parts.values()]
  return { parts: list, isComplete: list.every(({ failed }) => failed.length === 0) }
}

/** Number of walks after which the cause has to be investigated: some writer still uses a previous secret. */
const MAX_WALKS = 10
const OF_OBJECTS = / objects$/

/**
 * Repeats the walk until nothing in D1 is sealed under a previous TOKEN_SECRET, which can then be removed (SECRET-7): the next walk finds
 * rows that changed during a walk or were written by an isolate with a previous secret. Durable Objects seal all their data in every walk.
 */
export async function rotateMaster(api: Pick<ApiClient, 'reseal'>): Promise<{ parts: Part[]; walks: number; done: boolean }> {
  for (let walks = 1; ; walks += 1) {
    const { parts, isComplete } = await resealAll(api)
    const isClean = parts.every(({ part, resealed }) => resealed === 0 || OF_OBJECTS.test(part))
    if (!isComplete || isClean || walks === MAX_WALKS) return { parts, walks, done: isComplete && isClean }
  }
}
