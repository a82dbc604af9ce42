import type { ApiClient } from '../client/client.ts'

interface Part {
  part: string
  looked: number
  resealed: number
  /** Ids alone. */
  failed: string[]
}

/** Walks over everything that the plane keeps sealed, step by step, and says what was done in each part (PP-213, PP-238). */
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

/** Walks after which whoever keeps writing under a former secret has to be looked for. */
const MAX_WALKS = 10
const OF_OBJECTS = / objects$/

/**
 * Walks again and again until nothing is left in D1 under a former TOKEN_SECRET, which may then be taken out (SEC-7): a row that changed under a
 * walk, or was written by an isolate that had the former secret still, is found by the next one. Objects seal all that they have in each.
 */
export async function rotateMaster(api: Pick<ApiClient, 'reseal'>): Promise<{ parts: Part[]; walks: number; done: boolean }> {
  for (let walks = 1; ; walks += 1) {
    const { parts, isComplete } = await resealAll(api)
    const isClean = parts.every(({ part, resealed }) => resealed === 0 || OF_OBJECTS.test(part))
    if (!isComplete || isClean || walks === MAX_WALKS) return { parts, walks, done: isComplete && isClean }
  }
}
