import { z } from 'zod'
import type { ApiClient } from '../local/api-client.ts'

const ResealStep = z.object({
  step: z.string(),
  looked: z.number(),
  resealed: z.number(),
  failed: z.array(z.string()),
  nextCursor: z.string().nullable(),
})

interface Part {
  part: string
  looked: number
  resealed: number
  /** Ids alone. */
  failed: string[]
}

/** Walks over everything that the plane keeps sealed, step by step, and says what was done in each part (PP-213, PP-238). */
export async function resealAll(api: Pick<ApiClient, 'request'>): Promise<{ parts: Part[]; isComplete: boolean }> {
  const parts = new Map<string, Part>()
  let cursor: string | null | undefined
  while (cursor !== null) {
    const { step, nextCursor, ...done } = ResealStep.parse(await api.request('POST', '/admin/v1/secrets/reseal', { cursor }))
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
