interface Page<Item> {
  items: readonly Item[]
  next: string | null
}

/** Every item of a list that v2 cuts into pages: v1 has none. What an account may hold bounds them. */
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
