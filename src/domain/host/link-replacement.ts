/** How long a replacement is shown: enough for an operator to examine a machine whose key may be in two places. */
const ALERT_MS = 3_600_000

/** Replacements of a host's open links by another agent process (HOST-77). */
export interface LinkReplacements {
  count: number
  lastAtMs: number
  /** The address that the last replacement came from; null if it is unknown. */
  lastAddress: string | null
}

/** Whether the host is shown as one with a problem. */
export function isReplacementRecent({ lastAtMs }: LinkReplacements, nowMs: number): boolean {
  return nowMs - lastAtMs < ALERT_MS
}
