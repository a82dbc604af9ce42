import type { MergedLinesQuery, MergedLinesResponse } from '../../contract/logs/merged.ts'
import { Problem } from '../../contract/problems.ts'
import { type Direction, type LineFilter, type LineQuery, lineFilterOf } from '../../domain/logs/line-page.ts'
import {
  type LinePlace,
  type MergedPage,
  mergePages,
  placeCursor,
  readPlaceCursor,
  type WorkerPage,
} from '../../domain/logs/merged-page.ts'
import type { Env } from '../../env.ts'
import { type OwnWorkerSpan, ownWorkerSpans } from '../../objects/ownership/own-worker.ts'
import { podLogStub } from '../../objects/stubs.ts'
import type { VerbContext } from '../context.ts'
import { readEndpoint } from '../endpoints/endpoints.ts'
import { lineView, pagesOf } from './log-lines.ts'

/** Logs that are read at the same time; further logs are read only if the page may need their lines. */
const AT_ONCE = 8
/** A worker may print before its object knows of it and after it is gone, and clocks differ. */
const GRACE_MS = 60_000
const BEGINNING: LinePlace = { atMs: 0, workerId: '-', n: 0 }

interface Reading extends Omit<LineQuery, 'fromN'> {
  after: LinePlace | null
}

/**
 * Returns a page of the merged logs of all workers of an endpoint, ordered by time, with workers that have left while their logs are
 * retained (LOG-34). With `job`: the lines that its workers printed while they had that job. Throws 403, 404, and 429 when a log has too
 * many readers.
 */
export async function readEndpointLines(ctx: VerbContext, endpointId: string, query: MergedLinesQuery): Promise<MergedLinesResponse> {
  const endpoint = await readEndpoint(ctx, endpointId)
  const spans = await ownWorkerSpans(ctx.env, endpoint, query.job ?? null)
  if (spans === null) throw new Problem('notFound', { detail: 'job not found' })
  const filter = lineFilterOf(query)
  const cursor = query.cursor === undefined ? null : readPlaceCursor(query.cursor)
  const direction = cursor?.direction ?? (filter.sinceMs === null ? 'older' : 'newer')
  const reading: Reading = { direction, after: cursor?.place ?? null, filter, limit: query.limit }
  const page = await readMerged(ctx.env, endpoint.id, spans, reading, query.job !== undefined)
  return responseOf(page, reading)
}

async function readMerged(
  env: Env,
  endpointId: string,
  spans: readonly OwnWorkerSpan[],
  reading: Reading,
  isBounded: boolean,
): Promise<MergedPage> {
  const { direction, after, limit } = reading
  const waiting = spans.filter((span) => mayHold(span, reading)).sort((a, b) => nearness(a, b, direction))
  const pages: WorkerPage[] = []
  for (;;) {
    const batch = waiting.splice(0, AT_ONCE)
    const read = batch.map((span) => readOne(env, endpointId, span, reading, isBounded))
    // Bounded: `AT_ONCE` logs.
    pages.push(...(await Promise.all(read)).filter((page) => page !== null))
    const page = mergePages(pages, direction, after, limit)
    const [next] = waiting
    if (!next) return page
    // The page is full, and no unread log can have a line on it.
    const edge = direction === 'older' ? page.lines[0] : page.lines.at(-1)
    if (page.lines.length === limit && edge && isBeyond(next, edge.atMs, direction)) return { ...page, next: { ...edge } }
  }
}

async function readOne(
  env: Env,
  endpointId: string,
  span: OwnWorkerSpan,
  { direction, after, filter, limit }: Reading,
  isBounded: boolean,
): Promise<WorkerPage | null> {
  const { worker, isKnown, fromMs, toMs } = span
  const bounds = isBounded ? narrowed(filter, fromMs, toMs) : filter
  const isOwn = after?.workerId === worker.id
  const requested: LineQuery = {
    filter: isOwn || after === null ? bounds : behind(bounds, after, direction),
    direction,
    fromN: isOwn ? after.n : null,
    limit,
  }
  const reply = await podLogStub(env, worker).readLines({ kind: 'worker', ownerId: endpointId, isKnown }, [requested])
  // The retention of this log has ended.
  if (reply === 'unknown') return null
  const [page] = pagesOf(reply)
  return page ? { ...page, workerId: worker.id } : null
}

function behind(filter: LineFilter, { atMs }: LinePlace, direction: Direction): LineFilter {
  return direction === 'older' ? narrowed(filter, 0, atMs + 1) : narrowed(filter, atMs, null)
}

function narrowed(filter: LineFilter, fromMs: number, toMs: number | null): LineFilter {
  const untilMs = toMs === null ? filter.untilMs : Math.min(toMs, filter.untilMs ?? toMs)
  return { ...filter, sinceMs: Math.max(fromMs, filter.sinceMs ?? 0), untilMs }
}

function mayHold({ fromMs, toMs }: OwnWorkerSpan, { direction, after, filter }: Reading): boolean {
  const sinceMs = Math.max(filter.sinceMs ?? 0, direction === 'newer' ? (after?.atMs ?? 0) : 0)
  const untilMs = Math.min(
    filter.untilMs ?? Number.POSITIVE_INFINITY,
    direction === 'older' ? (after?.atMs ?? Number.POSITIVE_INFINITY) : Number.POSITIVE_INFINITY,
  )
  return fromMs - GRACE_MS <= untilMs && (toMs === null || toMs + GRACE_MS >= sinceMs)
}

/** Orders the spans so that the logs that a page in this direction needs first are read first. */
function nearness(a: OwnWorkerSpan, b: OwnWorkerSpan, direction: Direction): number {
  if (direction === 'newer') return a.fromMs - b.fromMs
  return (b.toMs ?? Number.MAX_SAFE_INTEGER) - (a.toMs ?? Number.MAX_SAFE_INTEGER)
}

function isBeyond({ fromMs, toMs }: OwnWorkerSpan, edgeMs: number, direction: Direction): boolean {
  return direction === 'newer' ? fromMs - GRACE_MS > edgeMs : toMs !== null && toMs + GRACE_MS < edgeMs
}

function responseOf({ lines, next, isTruncated }: MergedPage, { direction, after }: Reading): MergedLinesResponse {
  const last = lines.at(-1)
  const isOlder = direction === 'older'
  // The line at the start place itself belongs to the page on the other side.
  const older = isOlder ? next : after && { ...after, n: after.n + 1 }
  const newer = isOlder ? (after ? { ...after, n: Math.max(0, after.n - 1) } : (last ?? BEGINNING)) : (next ?? last ?? after ?? BEGINNING)
  return {
    lines: lines.map((line) => ({ ...lineView(line), workerId: line.workerId })),
    older: older && placeCursor('older', older),
    newer: placeCursor('newer', newer),
    atEnd: isOlder ? after === null : next === null,
    truncatedAt: isTruncated && next ? placeCursor(direction, next) : null,
  }
}
