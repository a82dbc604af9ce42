/** Long enough for somebody to look at a machine whose key may be in two places. */
const ALERT_MS = 3_600_000

/** Links of a host that another agent process has taken over while they were open (HOST-77). */
export interface LinkReplacements {
  count: number
  lastAtMs: number
  /** Where the last of them came from, as far as the plane is told. */
  lastAddress: string | null
}

/** Whether the host is to be shown as one with a problem. */
export function isReplacementRecent({ lastAtMs }: LinkReplacements, nowMs: number): boolean {
  return nowMs - lastAtMs < ALERT_MS
}
