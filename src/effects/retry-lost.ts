/** Tries of one optimistic change, unless the caller sets another number. */
const MAX_TRIES = 5

/** Marks a try that lost a race: another writer changed what it had read. */
export const LOST = 'lost'

/**
 * Runs `attempt`, which reads, decides and writes, until its outcome is not `LOST`, at most `maxTries` times. Returns the last outcome:
 * `LOST` when every try lost its race, and the caller decides what follows. Throws what `attempt` throws.
 */
export async function retryLost<Outcome>(
  attempt: () => Promise<Outcome | typeof LOST>,
  maxTries = MAX_TRIES,
): Promise<Outcome | typeof LOST> {
  for (let tries = 0; tries < maxTries; tries += 1) {
    const outcome = await attempt()
    if (outcome !== LOST) return outcome
  }
  return LOST
}
