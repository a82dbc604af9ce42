/**
 * Job ids look like `[sync-]<uuid v4>-<shard>` (JOB-7). The first 48 bits of the uuid are the job's sequence number, masked per endpoint,
 * so that a job is found by rowid: an index over random text would grow with the queue and cost a third of the insert.
 */
const SHARD = 'u1'
const ID = /^(sync-)?([0-9a-f]{8})-([0-9a-f]{4})-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}-u1$/
const HALF = 0x1000000
/** The largest number that an id can carry. */
export const MAX_JOB_SEQ = HALF * HALF - 1

/** Builds an id. `mask` is the endpoint's 48-bit secret as two 24-bit halves; `random` is at least 10 random bytes. */
export function formatJobId(seq: number, sync: boolean, mask: readonly [number, number], random: Uint8Array): string {
  const high = (Math.floor(seq / HALF) ^ mask[0]) >>> 0
  const low = ((seq % HALF) ^ mask[1]) >>> 0
  const head = hex(high, 6) + hex(low, 6)
  let tail = ''
  for (let i = 0; i < 10; i++) tail += hex(random[i] ?? 0, 2)
  const variant = '89ab'[(random[0] ?? 0) & 3]
  return `${sync ? 'sync-' : ''}${head.slice(0, 8)}-${head.slice(8, 12)}-4${tail.slice(0, 3)}-${variant}${tail.slice(3, 6)}-${tail.slice(6, 18)}-${SHARD}`
}

/** The sequence number in an id of this endpoint, or null for text that is no such id. The caller compares the whole id. */
export function parseJobSeq(id: string, mask: readonly [number, number]): number | null {
  const match = ID.exec(id)
  if (!match) return null
  const head = `${match[2]}${match[3]}`
  const high = (Number.parseInt(head.slice(0, 6), 16) ^ mask[0]) >>> 0
  const low = (Number.parseInt(head.slice(6, 12), 16) ^ mask[1]) >>> 0
  const seq = high * HALF + low
  return Number.isSafeInteger(seq) && seq > 0 ? seq : null
}

function hex(value: number, width: number): string {
  return value.toString(16).padStart(width, '0')
}
