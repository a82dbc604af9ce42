import { parseInstant } from './durations.ts'
import { usage } from './failure.ts'

/** RFC 3339 time that a flag such as `--since` names. Throws `CliError` if the text is neither a duration nor a time. */
export function instantOf(flag: string, text: string | undefined, nowMs: number): string | undefined {
  if (text === undefined) return undefined
  const instant = parseInstant(text, nowMs)
  if (instant === undefined) throw usage(`${flag} ${text}: it must be a duration such as 1h, or a time such as 2026-06-01T12:00:00Z`)
  return instant
}
