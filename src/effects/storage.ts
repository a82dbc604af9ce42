import { STORAGE_URL, type StorageFacts, storageRoom, WRITE_FAILED_URL } from '../domain/plane/storage-room.ts'
import type { Env } from '../env.ts'

/** How long an answer is reused, in milliseconds: a disk does not fill up much in a second. */
const KEPT_MS = 1_000
/** Timeout of one request: the launcher may be stopped, and then the state of the disk is unknown. */
const ANSWER_WITHIN_MS = 1_000
/** The same after a failed write: on a busy machine the launcher needs longer, and its answer decides between 500 and 503. */
const ANSWER_FAILED_WITHIN_MS = 5_000

const known = new WeakMap<Env, { askedAtMs: number; facts: StorageFacts | null }>()

/** Returns the present state of this plane's disk; null when it is unknown. Never throws. */
export async function readStorage({ MACHINE }: Env, url = STORAGE_URL, withinMs = ANSWER_WITHIN_MS): Promise<StorageFacts | null> {
  if (MACHINE === undefined) return null
  try {
    const response = await MACHINE.fetch(url, { signal: AbortSignal.timeout(withinMs) })
    return await response.json()
  } catch {
    return null
  }
}

/**
 * Whether the disk was full when it was last read (PLANE-12). Adds no delay: the next read runs after the reply, through `later`, at most
 * once a second.
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

/**
 * Whether the disk is full at present. Asked after a failed write that a full disk may have caused; the launcher then frees a part of
 * its reserve (PLANE-12).
 */
export async function isFullNow(env: Env): Promise<boolean> {
  // Without an answer, the last known state counts: a launcher that has no time does not make room.
  const facts = (await readStorage(env, WRITE_FAILED_URL, ANSWER_FAILED_WITHIN_MS)) ?? known.get(env)?.facts ?? null
  return facts !== null && storageRoom(facts) === 'FULL'
}
