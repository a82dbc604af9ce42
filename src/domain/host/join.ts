/** What decides about a machine that joins. Times in milliseconds since the epoch. */
export interface JoinFacts {
  expiresAt: number
  usedAt: number | null
  /** The host that has joined with this token; null where it was removed. */
  host: { publicKeyX: string; lastSeenAt: number | null } | null
}

/**
 * What a join token is worth to a key (HOST-1, DUR-4): it lets a machine `join` once, before it expires. The same key may `repeat` that join,
 * however late, until its host has linked for the first time: an agent that was cut off from the answer knows nothing of it yet. Every other
 * key is `refused`.
 */
export function judgeJoin({ expiresAt, usedAt, host }: JoinFacts, publicKeyX: string, nowMs: number): 'join' | 'repeat' | 'refused' {
  if (usedAt === null) return expiresAt > nowMs ? 'join' : 'refused'
  return host !== null && host.publicKeyX === publicKeyX && host.lastSeenAt === null ? 'repeat' : 'refused'
}
