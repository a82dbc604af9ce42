import type { ContainerSpec } from '../domain/resources/container.ts'
import type { Replay } from './idempotency.ts'

type Variables = Record<string, string>

/**
 * An answer is kept without its env (PP-236). A repeat shows the present values to whoever may read them, else those that the request itself
 * names: the first ones may have come from a template that the key may not read, or have been rotated away.
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

/** A record whose container has these variables. */
export function putEnv<Kept extends { container: ContainerSpec }>(record: Kept, env: Variables): Kept {
  return { ...record, container: { ...record.container, env } }
}
