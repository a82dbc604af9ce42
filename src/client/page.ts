/** Pages of lists. The rows of a page have a type that is no array, so that no caller uses one page as the whole list (PAG-25). */
import type { Pagination } from '../contract/pagination.ts'

declare const ITEM: unique symbol

/** Rows of a page, closed: only the functions of this file open them. */
export interface Rows<Item> {
  readonly [ITEM]: Item
}

/** An answer of a list with pages, its rows closed; any other answer is unchanged. */
export type Closed<Answer> = Answer extends { pagination: Pagination }
  ? { [Name in keyof Answer]: Answer[Name] extends readonly (infer Item)[] ? Rows<Item> : Answer[Name] }
  : Answer

/** The same answer with its rows as arrays. */
export type Opened<Answer> = { [Name in keyof Answer]: Answer[Name] extends Rows<infer Item> ? Item[] : Answer[Name] }

/** An answer of a list with pages. */
export interface Paged {
  pagination: Pagination
}

/** Item of a list with pages. */
export type ItemOf<Answer> = { [Name in keyof Answer]-?: Answer[Name] extends Rows<infer Item> ? Item : never }[keyof Answer]

/** A page of a list. */
export interface Page<Item> {
  items: readonly Item[]
  /** Position of the next page, for `cursor`; null: this is the last page. */
  next: string | null
}

/** Opens one page. A caller shows its end or says why one page suffices: a test has the list of callers. */
export function pageOf<Answer extends Paged>(answer: Answer): Page<ItemOf<Answer>> {
  // The closed type hides an array, the only one of the answer.
  const items = (Object.values(answer).find(Array.isArray) ?? []) as ItemOf<Answer>[]
  return { items, next: nextOf(answer) }
}

/** Opens the rows of an answer whose other members are shown too; for callers that say that more may follow. */
export function opened<Answer extends Paged>(answer: Answer): Opened<Answer> {
  // The closed type hides an array.
  return answer as unknown as Opened<Answer>
}

/** Position of the next page; null: there is none. */
export function nextOf({ pagination }: Paged): string | null {
  return pagination.hasNextPage ? pagination.nextCursor : null
}

/** Query of one page. */
export type PageRequest = { limit: number; cursor?: string }

/** Reads a list page by page. */
export async function* eachPage<Answer extends Paged>(
  read: (query: PageRequest) => Promise<Answer>,
  limit: number,
): AsyncGenerator<Answer> {
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: Answer = await read({ limit, ...(cursor !== '' && { cursor }) })
    yield page
    cursor = nextOf(page)
  }
}

/** Reads all items of a list, page by page. */
export async function* eachItem<Answer extends Paged>(
  read: (query: PageRequest) => Promise<Answer>,
  limit: number,
): AsyncGenerator<ItemOf<Answer>> {
  for await (const page of eachPage(read, limit)) yield* pageOf(page).items
}
