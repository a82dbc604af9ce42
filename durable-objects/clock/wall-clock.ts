const NOW = "SELECT CAST(unixepoch('subsec') * 1000 AS INTEGER) AS now"

/** The wall clock as the database of an object reads it, which shows a step back at once. Tests that have a `Date` of their own replace it. */
export const WALL_CLOCK = {
  /** Milliseconds since the epoch. */
  readMs: (storage: DurableObjectStorage): number => Number(storage.sql.exec(NOW).one().now),
}
