import type { ApiClient } from '../../../../client/client.ts'
import type { ServerEvent } from '../../../../client/events.ts'
import { paths } from '../../../app/paths.ts'
import { numberOf, readLine, type ShownLine, shownLine } from './lines.ts'

/** Which lines of a log a page has, and where it begins. */
export interface PageQuery {
  limit: number
  source?: string
  q?: string
  since?: string
  until?: string
  /** A cursor of another page. */
  cursor?: string
}

export interface LogPage {
  /** Oldest first. */
  lines: ShownLine[]
  older: string | null
  newer: string
  atEnd: boolean
  /** Where a search that was cut short goes on. */
  truncatedAt: string | null
}

/** Where a log is followed from: behind a page, and the line with which it ended, when that is known. */
export interface FollowFrom {
  lastId: string | null
  newer: string
}

/** A log that a view can show. */
export interface LogOrigin {
  /** Tells it from every other one. */
  key: string
  /** What it is the log of, such as `pod notebook`. */
  title: string
  /** Of its pages, for "copy as". */
  path: string
  /** What the command line calls it. */
  command?: string
  /** Its time, when only a part of a log is meant; without an end it goes on. */
  span?: { since: string; until: string | null }
  /** Lines are numbered without gaps, so one that is missing is known. */
  isNumbered: boolean
  /** Where the worker of a line of a joined log is looked at. */
  workerPath?: (workerId: string) => string
  page: (api: ApiClient, query: PageQuery, signal: AbortSignal) => Promise<LogPage>
  /** Of a line and its neighbours. */
  around: (api: ApiClient, id: string, query: PageQuery, signal: AbortSignal) => Promise<LogPage>
  /** All lines as they come; `onLink` is told when a stream of them opens and breaks off. */
  follow: (api: ApiClient, from: FollowFrom, signal: AbortSignal, onLink: (isOpen: boolean) => void) => AsyncGenerator<readonly ShownLine[]>
}

/** The log of a pod, also of its former containers. */
export function podLog(id: string): LogOrigin {
  return numbered({
    key: `pod/${id}`,
    title: `pod ${id}`,
    path: `/v2/pods/${encodeURIComponent(id)}/logs/lines`,
    command: `logs ${id}`,
    lines: (api, query, signal) => api.listPodLogLines({ path: { id }, query: { ...query } }, { signal }),
    events: (api, query, options) => api.getPodLogs({ path: { id }, query }, options),
  })
}

/** The log of a worker, also of one that has ended; of an attempt of a job: of its time. */
export function workerLog(id: string, workerId: string, span?: LogOrigin['span']): LogOrigin {
  const path = { id, workerId }
  return numbered({
    key: `worker/${id}/${workerId}/${span?.since ?? ''}`,
    title: `worker ${workerId}`,
    path: `/v2/serverless/${encodeURIComponent(id)}/workers/${encodeURIComponent(workerId)}/logs/lines`,
    ...(span === undefined ? { command: `logs ${workerId} --endpoint ${id}` } : { span }),
    lines: (api, query, signal) => api.listWorkerLogLines({ path, query: { ...query } }, { signal }),
    events: (api, query, options) => api.getWorkerLogs({ path, query }, options),
  })
}

/** The logs of all workers of an endpoint as one, also of those that have left (JL-14). */
export function endpointLog(id: string): LogOrigin {
  const page: LogOrigin['page'] = async (api, query, signal) =>
    shownPage(await api.listEndpointLogLines({ path: { id }, query: { ...query } }, { signal }))
  return {
    key: `endpoint/${id}`,
    title: `endpoint ${id}`,
    path: `/v2/serverless/${encodeURIComponent(id)}/logs/lines`,
    isNumbered: false,
    workerPath: (workerId) => paths.worker(id, workerId),
    page,
    around: async (api, lineId, { limit, ...query }, signal) => {
      const half = Math.ceil(limit / 2)
      // Up to the line itself: to the one behind it in its own log.
      const before = lineId.replace(/\d+$/, (n) => String(Number(n) + 1))
      const [older, newer] = await Promise.all([
        page(api, { ...query, limit: half, cursor: `<${before}` }, signal),
        page(api, { ...query, limit: half, cursor: `>${lineId}` }, signal),
      ])
      return { ...newer, lines: [...older.lines, ...newer.lines], older: older.older }
    },
    follow: (api, from, signal, onLink) => looks((cursor) => page(api, { limit: PAGE_LINES, cursor }, signal), from, signal, onLink),
  }
}

/** Most lines of one page (JL-10). */
export const PAGE_LINES = 1_000
/** As much of a log as a stream begins with. */
const TAIL_LINES = 5_000

interface Followed {
  signal: AbortSignal
  onLink: (isOpen: boolean) => void
  lastEventId?: string
}

interface Numbered extends Pick<LogOrigin, 'key' | 'title' | 'path' | 'command' | 'span'> {
  lines: (api: ApiClient, query: PageQuery & { around?: number }, signal: AbortSignal) => Promise<AnsweredPage>
  events: (api: ApiClient, query: { tail?: number }, options: Followed) => AsyncGenerator<ServerEvent>
}

/** The log of one workload: pages and a stream. */
function numbered({ lines, events, ...rest }: Numbered): LogOrigin {
  return {
    ...rest,
    isNumbered: true,
    page: async (api, query, signal) => shownPage(await lines(api, query, signal)),
    around: async (api, id, query, signal) => shownPage(await lines(api, { ...query, around: numberOf(id) }, signal)),
    follow: async function* (api, { lastId, newer }, signal, onLink) {
      const n = Number(newer.slice(1))
      // A stream goes on behind an event; a page may have ended behind a line that it does not show.
      const last = lastId ?? (n === 0 ? undefined : (await lines(api, { limit: 1, around: n }, signal)).lines.at(-1)?.id)
      for await (const event of events(api, last === undefined ? { tail: TAIL_LINES } : {}, {
        signal,
        onLink,
        ...(last && { lastEventId: last }),
      })) {
        const line = readLine(event)
        if (line !== null) yield [line]
      }
    },
  }
}

type AnsweredPage = Omit<LogPage, 'lines'> & { lines: Parameters<typeof shownLine>[0][] }

const shownPage = (page: AnsweredPage): LogPage => ({ ...page, lines: page.lines.map(shownLine) })

const LOOK_EVERY_MS = 2_000
/** A worker's lines reach the plane later than those that others have written at the same time. */
const LATE_MS = 10_000

/** Looks again and again for what is newer. Each look begins a while before the newest line, so that what comes late is not lost. */
async function* looks(
  page: (cursor: string) => Promise<LogPage>,
  { newer }: FollowFrom,
  signal: AbortSignal,
  onLink: (isOpen: boolean) => void,
): AsyncGenerator<readonly ShownLine[]> {
  let cursor = lateFrom(newer.slice(1))
  for (;;) {
    const { lines, newer: next, atEnd } = await page(cursor)
    onLink(true)
    if (lines.length > 0) yield lines
    const last = lines.at(-1)
    cursor = atEnd && last ? lateFrom(last.id) : next
    if (!atEnd) continue
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))
    signal.throwIfAborted()
  }
}

const lateFrom = (id: string) => `>${Math.max(0, Number(id.split('.')[0]) - LATE_MS)}.-.0`
