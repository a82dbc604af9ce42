import { ApiError } from '../../client/client.ts'
import { pause } from '../../client/transport.ts'
import { EXIT } from '../core/exit-codes.ts'
import { CliError, usage } from '../core/failure.ts'
import { instantOf } from '../core/instants.ts'
import type { Answer } from '../session/pages.ts'
import type { Session } from '../session/session.ts'

/** Flags of the commands that print logs. */
export interface LogFlags {
  follow?: boolean
  since?: string
  until?: string
  tail: number
  grep?: string
  source?: string
  worker?: string
}

type Page = Answer<'listPodLogLines'>
type Line = Page['lines'][number]
interface Query {
  limit: number
  since?: string
  until?: string
  q?: string
  source?: string
  cursor?: string
}

/** One log: how its lines are read and followed. */
interface Log {
  /** Name of the worker or pod, if several logs are printed. */
  label: string
  /** Field of the label in JSON. */
  labeled: 'workerId' | 'pod'
  /** Whether the lines are messages to users on stderr, not data. */
  isTalk?: boolean
  page(query: Query): Promise<Page>
  follow(lastEventId: string): AsyncGenerator<{ data: string; event: string }>
}

const PAGE = 1_000

/** Prints lines of a pod, of a worker, or of all workers of an endpoint, and follows them with `-f`. */
export async function printLogs(session: Session, id: string, flags: LogFlags): Promise<number> {
  return await printAll(session, await findLogs(session, id, flags.worker), flags)
}

/** Prints the logs of all members of a cluster, in the same way. */
export async function printMemberLogs(session: Session, clusterId: string, flags: LogFlags): Promise<number> {
  const { pods } = await session.api.listClusterPods({ path: { id: clusterId } })
  const logs = pods.map((pod) => podLog(session, pod.id, pod.name))
  return await printAll(session, logs, flags)
}

const CHECK_MS = 1_000

/** Follows the logs of all workers of an endpoint on stderr, including later ones, until the run ends. */
export async function followWorkers(session: Session, endpointId: string): Promise<void> {
  const followed = new Set<string>()
  while (!session.signal.aborted) {
    const { workers } = await session.api.listEndpointWorkers({ path: { id: endpointId } }).catch(() => ({ workers: [] }))
    for (const { id } of workers.filter((worker) => !followed.has(worker.id))) {
      followed.add(id)
      // A worker may have no log yet, so the next round tries again.
      void followFromStart(session, { ...workerLog(session, endpointId, id), isTalk: true }).catch(() => followed.delete(id))
    }
    await pause(CHECK_MS, session.signal).catch(() => undefined)
  }
}

async function followFromStart(session: Session, log: Log): Promise<void> {
  const { lines } = await log.page({ limit: PAGE })
  for (const line of lines) print(session, log, line)
  await follow(session, log, lines.at(-1)?.id ?? '', { tail: 0 })
}

async function printAll(session: Session, logs: readonly Log[], flags: LogFlags): Promise<number> {
  const query = queryOf(flags, session.io.nowMs())
  const read = await Promise.all(logs.map(async (log) => (await readLines(log, query, flags.tail)).map((line) => ({ log, line }))))
  const lines = read.flat().toSorted((a, b) => a.line.ts.localeCompare(b.line.ts))
  const shown = query.since === undefined ? lines.slice(-flags.tail) : lines
  for (const { log, line } of shown) print(session, log, line)
  if (!flags.follow) return EXIT.OK
  await Promise.all(logs.map((log, index) => follow(session, log, read[index]?.at(-1)?.line.id ?? '', flags)))
  return EXIT.OK
}

function queryOf({ since, until, grep, source }: LogFlags, nowMs: number): Omit<Query, 'limit'> {
  if (source !== undefined && source !== 'container' && source !== 'system') throw usage('--source: it must be container or system')
  const [from, to] = [instantOf('--since', since, nowMs), instantOf('--until', until, nowMs)]
  return {
    ...(from && { since: from }),
    ...(to && { until: to }),
    ...(grep !== undefined && { q: grep }),
    ...(source !== undefined && { source }),
  }
}

/** Logs of an id: of a pod, or of the workers of an endpoint. */
async function findLogs(session: Session, id: string, workerId: string | undefined): Promise<Log[]> {
  if (workerId !== undefined) return [workerLog(session, id, workerId)]
  try {
    await session.api.getPod({ path: { id } })
    return [podLog(session, id)]
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 404) throw error
  }
  try {
    const { workers } = await session.api.listEndpointWorkers({ path: { id } })
    if (workers.length === 0) session.out.talk('no worker is running; --worker <id> shows the log of a worker that has ended')
    return workers.map((worker) => workerLog(session, id, worker.id))
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 404) throw error
    throw new CliError(EXIT.NOT_FOUND, 'http_404', `${id} is neither a pod nor an endpoint`)
  }
}

function podLog(session: Session, id: string, label = ''): Log {
  return {
    label,
    labeled: 'pod',
    page: (query) => session.api.listPodLogLines({ path: { id }, query: { ...query } }),
    follow: (lastEventId) => session.api.getPodLogs({ path: { id }, query: { tail: 0 } }, { lastEventId, signal: session.signal }),
  }
}

function workerLog(session: Session, id: string, workerId: string): Log {
  const path = { id, workerId }
  return {
    label: workerId,
    labeled: 'workerId',
    page: (query) => session.api.listWorkerLogLines({ path, query: { ...query } }),
    follow: (lastEventId) => session.api.getWorkerLogs({ path, query: { tail: 0 } }, { lastEventId, signal: session.signal }),
  }
}

/** Reads the newest lines; with `since` or a search, all matching lines. */
async function readLines(log: Log, query: Omit<Query, 'limit'>, tail: number): Promise<Line[]> {
  const isWhole = query.since !== undefined || query.q !== undefined
  if (!isWhole) return tail === 0 ? [] : (await log.page({ ...query, limit: Math.min(tail, PAGE) })).lines
  const lines: Line[] = []
  const { since, ...others } = query
  let page = await log.page({ ...query, limit: PAGE })
  for (;;) {
    // Without a start, pages go back in time, as a search for the newest lines does.
    if (since === undefined) lines.unshift(...page.lines)
    else lines.push(...page.lines)
    const cursor = page.truncatedAt ?? (since === undefined ? page.older : page.atEnd ? null : page.newer)
    if (cursor === null || (since === undefined && lines.length >= tail)) return lines
    page = await log.page({ ...others, ...(since !== undefined && { since }), limit: PAGE, cursor })
  }
}

async function follow(session: Session, log: Log, lastEventId: string, { grep, source }: LogFlags): Promise<void> {
  const wanted = grep?.toLowerCase()
  for await (const { data, event } of log.follow(lastEventId)) {
    if (event !== 'message') continue
    const line = JSON.parse(data) as Line
    if (wanted !== undefined && !line.line.toLowerCase().includes(wanted)) continue
    if (source !== undefined && line.source !== source) continue
    print(session, log, line)
  }
}

/** A terminal gets the text only; a pipe also gets time and source. */
function print({ out }: Session, { label, labeled, isTalk }: Log, line: Line): void {
  if (isTalk) {
    out.talk(`${label}  ${printable(line.line)}`)
    return
  }
  const prefix = label === '' ? '' : `${label}${out.isTerminal ? '  ' : '\t'}`
  const text = out.isTerminal ? (line.source === 'system' ? `· ${line.line}` : line.line) : `${line.ts}\t${line.source}\t${line.line}`
  out.event(label === '' ? line : { ...line, [labeled]: label }, `${prefix}${printable(text)}\n`)
}

/** Removes sequences that move the cursor or rename the window, since a log is untrusted data. Colors stay. */
function printable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is taken out
  return text.replace(/\u001b\[[0-9;]*m|[\u0000-\u0008\u000b-\u001f\u007f\u0080-\u009f]/g, (found) =>
    found.startsWith('\u001b[') ? found : '',
  )
}
