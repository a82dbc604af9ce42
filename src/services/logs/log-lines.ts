import type { LogLine, LogLinesQuery, LogLinesResponse } from '../../contract/logs/lines.ts'
import { Problem } from '../../contract/problems.ts'
import { type FoundLines, lineQueriesOf, newerThan, olderThan } from '../../domain/logs/line-page.ts'
import { lineId, type StoredLine } from '../../domain/text/log-stream.ts'
import type { Env } from '../../env.ts'
import { podLogStub } from '../../objects/stubs.ts'
import type { LinesReply } from '../../rpc/pod-log.ts'
import type { ReadableLog } from './follow-log.ts'

const RETRY_SECONDS = '2'

/**
 * Returns a page of a log (LOG-30). Throws 404 when there is no such log, 429 when it has too many readers, and 503 while its bucket cannot
 * be reached.
 */
export async function readLogLines(env: Env, { log, ownerId, isKnown }: ReadableLog, query: LogLinesQuery): Promise<LogLinesResponse> {
  const pages = pagesOf(await podLogStub(env, log).readLines({ kind: log.kind, ownerId, isKnown }, lineQueriesOf(query)))
  return joinPages(pages, query)
}

/** Returns the pages of a reply, or throws the error that the reply stands for. */
export function pagesOf(reply: LinesReply): FoundLines[] {
  if (Array.isArray(reply)) return reply
  if (reply === 'unknown') throw new Problem('notFound')
  if (reply === 'busy') {
    const detail = 'too many pages of this log are being read at the same time; retry'
    throw new Problem('rateLimited', { detail, headers: { 'Retry-After': RETRY_SECONDS } })
  }
  throw new Problem('unavailable', {
    detail: 'older lines of this log are temporarily unavailable',
    headers: { 'Retry-After': RETRY_SECONDS },
  })
}

// Joins pages that were read in one direction; the other side is the place of the cursor, or the end of the log.
function joinPages(pages: FoundLines[], query: LogLinesQuery): LogLinesResponse {
  const [first] = pages
  if (!first) throw new Error('a query has a page')
  const isNewer = lineQueriesOf(query)[0]?.direction === 'newer'
  const before = isNewer ? null : first
  const after = isNewer ? first : (pages[1] ?? null)
  const lines = pages.flatMap((page) => page.lines)
  const newerN = after ? Math.max(after.reachedN, 0) : newerSideOf(query, first)
  const olderN = before ? before.reachedN : (lines[0]?.n ?? newerN + 1)
  const hasOlder = before ? !before.isEnd : query.cursor !== undefined && olderN > first.oldestN
  const stopped = before?.isTruncated ? olderThan(before.reachedN) : after?.isTruncated ? newerThan(after.reachedN) : null
  return {
    lines: lines.map(lineView),
    older: hasOlder ? olderThan(olderN) : null,
    newer: newerThan(newerN),
    atEnd: after ? after.isEnd : newerN >= first.newestN,
    truncatedAt: stopped,
  }
}

/** Returns the number of the line before the newer side of a page that was read towards older lines. */
function newerSideOf({ cursor, around }: LogLinesQuery, { newestN }: FoundLines): number {
  if (cursor !== undefined) return Math.max(0, Number(cursor.slice(1)) - 1)
  return around ?? newestN
}

/** A stored line as responses show it. */
export function lineView(stored: StoredLine): LogLine {
  const { n, atMs, source, line } = stored
  return { n, id: lineId(stored), ts: new Date(atMs).toISOString(), source, line }
}
