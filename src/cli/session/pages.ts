import type { ApiCalls } from '../../client/client.ts'
import { eachPage, nextOf, type Opened, opened, type Paged, type PageRequest } from '../../client/page.ts'
import type { Session } from './session.ts'

/** Answer of an operation; that of a list with the rows of all pages. */
export type Answer<Id extends keyof ApiCalls> = ApiCalls[Id] extends (...args: never[]) => Promise<infer Reply> ? Whole<Reply> : never
type Whole<Reply> = Reply extends Paged ? Opened<Reply> : Reply

/** Maximum rows of a list on a terminal without `--all` (CMD-7). */
const SHOWN = 50
const PAGE = 100

/**
 * Reads a list of the API: all pages for programs or with `all`, else the first `SHOWN` rows. Returns the API's answer with the rows of all
 * pages.
 */
export async function readPages<Reply extends Paged>(
  session: Session,
  read: (query: PageRequest) => Promise<Reply>,
  all: boolean | undefined,
): Promise<Opened<Reply>> {
  const isWhole = all === true || !session.out.isTerminal || session.out.isJson
  if (isWhole) return await readAllPages(read)
  const answer = await read({ limit: SHOWN })
  if (nextOf(answer) !== null) session.out.talk(`only the first ${SHOWN} are shown; --all shows the rest`)
  return opened(answer)
}

/** Reads all pages of a list. Throws an `Error` only for a list without any page, which cannot be. */
export async function readAllPages<Reply extends Paged>(read: (query: PageRequest) => Promise<Reply>): Promise<Opened<Reply>> {
  let answer: Opened<Reply> | undefined
  for await (const page of eachPage(read, PAGE)) answer = answer === undefined ? opened(page) : joinPages(answer, opened(page))
  if (answer === undefined) throw new Error('a list has at least one page')
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
