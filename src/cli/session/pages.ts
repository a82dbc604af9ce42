import type { ApiCalls } from '../../client/client.ts'
import type { Session } from './session.ts'

/** Answer of an operation. */
export type Answer<Id extends keyof ApiCalls> = ApiCalls[Id] extends (...args: never[]) => Promise<infer Reply> ? Reply : never

/** Maximum rows of a list on a terminal without `--all` (CMD-7). */
const SHOWN = 50
const PAGE = 100

function nextOf(answer: object): string | null {
  const { pagination } = answer as { pagination?: { nextCursor: string | null; hasNextPage: boolean } }
  return pagination?.hasNextPage ? pagination.nextCursor : null
}

/**
 * Reads a list of the API: all pages for programs or with `all`, else the first `SHOWN` rows. Returns the API's answer with the rows of all
 * pages.
 */
export async function readPages<Reply extends object>(
  session: Session,
  read: (query: { limit: number; cursor?: string }) => Promise<Reply>,
  all: boolean | undefined,
): Promise<Reply> {
  const isWhole = all === true || !session.out.isTerminal || session.out.isJson
  if (isWhole) return await readAllPages(read)
  const answer = await read({ limit: SHOWN })
  if (nextOf(answer) !== null) session.out.talk(`only the first ${SHOWN} are shown; --all shows the rest`)
  return answer
}

/** Reads all pages of a list. */
export async function readAllPages<Reply extends object>(
  read: (query: { limit: number; cursor?: string }) => Promise<Reply>,
): Promise<Reply> {
  let answer = await read({ limit: PAGE })
  for (let cursor = nextOf(answer); cursor !== null; cursor = nextOf(answer))
    answer = joinPages(answer, await read({ limit: PAGE, cursor }))
  return answer
}

/** Prepends the rows of the previous pages to a page; a list has one array field. */
function joinPages<Reply extends object>(before: Reply, next: Reply): Reply {
  const rows = Object.entries(next).map(([name, value]) => [
    name,
    Array.isArray(value) ? [...(before[name as keyof Reply] as unknown[]), ...value] : value,
  ])
  return Object.fromEntries(rows) as Reply
}
