/** A nullable number of a row. */
export function numberOrNull(value: SqlStorageValue | undefined): number | null {
  return typeof value === 'number' ? value : null
}

/** A nullable text of a row. */
export function textOrNull(value: SqlStorageValue | undefined): string | null {
  return typeof value === 'string' ? value : null
}
