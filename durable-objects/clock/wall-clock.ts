const NOW = "SELECT CAST(unixepoch('subsec') * 1000 AS INTEGER) AS now"

/** The wall clock as the object's database reads it, which reflects a step back at once. Tests that fake `Date` replace it. */
export const WALL_CLOCK = {
  /** Milliseconds since the epoch. */
  readMs: (storage: DurableObjectStorage): number => Number(storage.sql.exec(NOW).one().now),
}
