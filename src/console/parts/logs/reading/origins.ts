import type { ApiClient } from '../../../../client/client.ts'
import type { ServerEvent } from '../../../../client/events.ts'
import { paths } from '../../../hooks/paths.ts'
import { numberOf, readLine, type ShownLine, shownLine } from './lines.ts'

/** Filter and start of a page of a log. */
export interface PageQuery {
  limit: number
  source?: string
  q?: string
  since?: string
  until?: string
  /** Cursor from another page. */
  cursor?: string
}

/** A page of a log; `older` and `newer` are cursors of the neighboring pages, and a null `older` means that there are none. */
export interface LogPage {
  /** Lines, oldest first. */
  lines: ShownLine[]
  older: string | null
  newer: string
  atEnd: boolean
  /** Cursor at which a search that was cut short continues. */
  truncatedAt: string | null
}

/** Position from which a log is followed: the cursor after a page, and the id of its last line if known. */
export interface FollowFrom {
  lastId: string | null
  newer: string
}

/** Log that a view can show. */
export interface LogOrigin {
  /** Unique key of the log. */
  key: string
  /** Title of the log, such as `pod notebook`. */
  title: string
  /** API path of its pages, for "copy as". */
  path: string
  /** Command of the command line that prints the log. */
  command?: string
  /** Period, if only a part of a log is shown; `until` null: the part still grows. */
  span?: { since: string; until: string | null }
  /** Whether line numbers have no gaps, so that a missing line is detected. */
  isNumbered: boolean
  /** Address of the page of a worker, for the lines of a joined log. */
  workerPath?: (workerId: string) => string
  page: (api: ApiClient, query: PageQuery, signal: AbortSignal) => Promise<LogPage>
  /** Page with a line and its neighbors. */
  around: (api: ApiClient, id: string, query: PageQuery, signal: AbortSignal) => Promise<LogPage>
  /** Lines as they arrive; `onLink` is called when the stream opens and when it breaks. */
  follow: (api: ApiClient, from: FollowFrom, signal: AbortSignal, onLink: (isOpen: boolean) => void) => AsyncGenerator<readonly ShownLine[]>
}

/** Log of a pod, including its previous containers. */
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

/** Log of a worker, which may have ended; `span` limits it to the time of one job attempt. */
export function workerLog(id: string, workerId: string, span?: LogOrigin['span']): LogOrigin {
  const path = { id, workerId }
  return numbered({
    key: `worker/${id}/${workerId}/${span?.since ?? ''}/${span?.until ?? ''}`,
    title: `worker ${workerId}`,
    path: `/v2/serverless/${encodeURIComponent(id)}/workers/${encodeURIComponent(workerId)}/logs/lines`,
    ...(span === undefined ? { command: `logs ${id} --worker ${workerId}` } : { span }),
    lines: (api, query, signal) => api.listWorkerLogLines({ path, query: { ...query } }, { signal }),
    events: (api, query, options) => api.getWorkerLogs({ path, query }, options),
  })
}

/** Joined log of all workers of an endpoint, including those that have ended (LOG-34). */
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
      // The older half includes the line itself, so it ends before the next number in the same log.
      const before = lineId.replace(/\d+$/, (n) => String(Number(n) + 1))
      const [older, newer] = await Promise.all([
        page(api, { ...query, limit: half, cursor: `<${before}` }, signal),
        page(api, { ...query, limit: half, cursor: `>${lineId}` }, signal),
      ])
      return { ...newer, lines: [...older.lines, ...newer.lines], older: older.older }
    },
    follow: (api, from, signal, onLink) => pollPages((cursor) => page(api, { limit: PAGE_LINES, cursor }, signal), from, signal, onLink),
  }
}

/** Maximum lines of one page (LOG-30). */
export const PAGE_LINES = 1_000
/** Number of recent lines with which a stream begins. */
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

/** Log of one workload: pages and a stream. */
function numbered({ lines, events, ...rest }: Numbered): LogOrigin {
  return {
    ...rest,
    isNumbered: true,
    page: async (api, query, signal) => shownPage(await lines(api, query, signal)),
    around: async (api, id, query, signal) => shownPage(await lines(api, { ...query, around: numberOf(id) }, signal)),
    follow: async function* (api, { lastId, newer }, signal, onLink) {
      const n = Number(newer.slice(1))
      // A stream resumes after an event id; the last line that the page has read may be filtered out, so its id is looked up by number.
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

const REFRESH_EVERY_MS = 2_000
/** Delay with which a worker's lines may reach the plane, milliseconds; lines of other workers with the same time may be there earlier. */
const LATE_MS = 10_000

/** Polls for newer lines. Each request starts `LATE_MS` before the newest line, so that late lines are not lost. */
async function* pollPages(
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
    await new Promise((resolve) => setTimeout(resolve, REFRESH_EVERY_MS))
    signal.throwIfAborted()
  }
}

const lateFrom = (id: string) => `>${Math.max(0, Number(id.split('.')[0]) - LATE_MS)}.-.0`
