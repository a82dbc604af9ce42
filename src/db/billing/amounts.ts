import { type SQL, sql } from 'drizzle-orm'

/**
 * `amountMicros` of the domain in SQL, for intervals that are closed without being read. Whole hours and the remainder are multiplied
 * separately, because rate times milliseconds would overflow SQLite's integers.
 */
export function microsOf(nanosPerHour: SQL, ms: SQL): SQL {
  const time = sql`MAX(0, ${ms})`
  const hours = sql`(${time} / 3600000)`
  const whole = sql`(${nanosPerHour} / 1000) * ${hours}`
  const rest = sql`(${nanosPerHour} % 1000) * ${hours} * 3600000 + ${nanosPerHour} * (${time} % 3600000)`
  return sql`(${whole} + (${rest}) / 3600000000)`
}
