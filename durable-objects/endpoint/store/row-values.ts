/** A number of a row that may have none. */
export function numberOrNull(value: SqlStorageValue | undefined): number | null {
  return typeof value === 'number' ? value : null
}

/** A text of a row that may have none. */
export function textOrNull(value: SqlStorageValue | undefined): string | null {
  return typeof value === 'string' ? value : null
}
