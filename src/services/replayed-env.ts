import type { ContainerSpec } from '../domain/resources/container.ts'
import type { Replay } from './idempotency.ts'

type Variables = Record<string, string>

/**
 * Stores an answer without its env (IDEM-4). A repeat shows the present values to callers that may read them, else the values of the
 * request itself: the first values may have come from a template that the key may not read, or have been rotated since.
 */
export function replayEnv<Answer>(
  asked: Variables | undefined,
  put: (answer: Answer, env: Variables) => Answer,
  readCurrent: (kept: Answer) => Promise<Variables | null>,
): Replay<Answer> {
  return {
    keep: (answer) => put(answer, {}),
    show: async (kept) => put(kept, (await readCurrent(kept)) ?? asked ?? {}),
  }
}

/** Returns a record whose container has these variables. */
export function putEnv<Kept extends { container: ContainerSpec }>(record: Kept, env: Variables): Kept {
  return { ...record, container: { ...record.container, env } }
}
