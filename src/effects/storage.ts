import { STORAGE_URL, type StorageFacts, storageRoom, WRITE_FAILED_URL } from '../domain/plane/storage-room.ts'
import type { Env } from '../env.ts'

/** So long an answer counts, milliseconds: a disk does not fill up much in a second. */
const KEPT_MS = 1_000
/** The launcher may be stopped; then nothing is known of the disk. */
const ANSWER_WITHIN_MS = 1_000

const known = new WeakMap<Env, { askedAtMs: number; facts: StorageFacts | null }>()

/** The disk of this plane as it is now; null where nothing is known of it. Never throws. */
export async function readStorage({ MACHINE }: Env, url = STORAGE_URL): Promise<StorageFacts | null> {
  if (MACHINE === undefined) return null
  try {
    const response = await MACHINE.fetch(url, { signal: AbortSignal.timeout(ANSWER_WITHIN_MS) })
    return await response.json()
  } catch {
    return null
  }
}

/**
 * Whether the disk was full when it was seen last (PLC-3). Costs nothing: it is read again behind an answer, through `later`, once a second
 * at most.
 */
export function isKnownFull(env: Env, nowMs: number, later: (work: Promise<unknown>) => void): boolean {
  if (env.MACHINE === undefined) return false
  const { askedAtMs, facts } = known.get(env) ?? { askedAtMs: 0, facts: null }
  if (Math.abs(nowMs - askedAtMs) >= KEPT_MS) {
    known.set(env, { askedAtMs: nowMs, facts })
    later(readStorage(env).then((read) => known.set(env, { askedAtMs: nowMs, facts: read })))
  }
  return facts !== null && storageRoom(facts) === 'FULL'
}

/** Whether the disk is full at this moment. Something failed that a full disk may have failed, so it gets its reserve (PLC-3). */
export async function isFullNow(env: Env): Promise<boolean> {
  const facts = await readStorage(env, WRITE_FAILED_URL)
  return facts !== null && storageRoom(facts) === 'FULL'
}
