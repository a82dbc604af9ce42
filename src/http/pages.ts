interface Page<Item> {
  items: readonly Item[]
  next: string | null
}

/** Reads all pages of a list and returns its items, for v1, which has no pages. The quotas of an account bound the number of items. */
export async function readPages<Item>(read: (cursor: string | undefined) => Promise<Page<Item>>): Promise<Item[]> {
  const all: Item[] = []
  let cursor: string | undefined
  do {
    const { items, next } = await read(cursor)
    all.push(...items)
    cursor = next ?? undefined
  } while (cursor !== undefined)
  return all
}
