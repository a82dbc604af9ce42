/** The facts that decide whether a machine may join. Times in milliseconds since the epoch. */
export interface JoinFacts {
  expiresAt: number
  usedAt: number | null
  /** The host that joined with this token; null before the join, and after the removal of the host. */
  host: { publicKeyX: string; lastSeenAt: number | null } | null
}

/**
 * Decides what a join token allows a key to do (HOST-1, DUR-4): a machine may `join` once, before the token expires. The same key may
 * `repeat` that join at any time until its host has linked for the first time, because its agent may not have received the answer. Every
 * other key is `refused`.
 */
export function judgeJoin({ expiresAt, usedAt, host }: JoinFacts, publicKeyX: string, nowMs: number): 'join' | 'repeat' | 'refused' {
  if (usedAt === null) return expiresAt > nowMs ? 'join' : 'refused'
  return host !== null && host.publicKeyX === publicKeyX && host.lastSeenAt === null ? 'repeat' : 'refused'
}
