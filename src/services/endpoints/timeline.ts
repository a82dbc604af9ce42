import type { EndpointTimeline, TimelineEvent, TimelineQuery } from '../../contract/endpoints/timeline.ts'
import { formatTime } from '../../contract/timestamps.ts'
import { readEndpointCharges } from '../../db/billing/endpoint-charges.ts'
import { openDatabase } from '../../db/client.ts'
import { listReleases, type ReleaseRow } from '../../db/endpoints/endpoints.ts'
import { partMicros, usdOfMicros } from '../../domain/money.ts'
import type { DecisionRecord } from '../../domain/worker/scaling-record.ts'
import { type Steps, spendSeries, stepsOf, type WorkerChange } from '../../domain/worker/timeline.ts'
import type { OwnEndpoint } from '../../objects/ownership/own.ts'
import { endpointStub } from '../../objects/stubs.ts'
import type { VerbContext } from '../context.ts'
import { decodeCursor, pageOf } from '../cursor.ts'
import { openBillSources } from '../heavy-reads.ts'
import { readPeriod } from '../read-period.ts'
import { readEndpoint } from './endpoints.ts'

/** Maximum number of events in one answer (HIS-22). */
const MAX_EVENTS = 500
/** Releases that are read; about as many are retained per endpoint. */
const MAX_RELEASES = 200

interface Placed {
  atMs: number
  /** Unique id; of two events at one instant the later one has the greater id. */
  id: string
  event: TimelineEvent
}

/**
 * Returns the counts, cost and events of an endpoint over a period (HIS-21, HIS-22). Throws 403, 404, and 422 for a period that ends before
 * it begins or a cursor of another one.
 */
export async function getTimeline(ctx: VerbContext, id: string, query: TimelineQuery): Promise<EndpointTimeline> {
  const endpoint = await readEndpoint(ctx, id)
  const steps = readPeriod(query, ctx.nowMs, stepsOf)
  const binding = `getEndpointTimeline ${id} ${query.from ?? ''} ${query.to ?? ''}`
  const after = decodeCursor(binding, query.cursor)
  const endMs = steps.fromMs + steps.count * steps.stepMs
  const stub = endpointStub(ctx.env, endpoint)
  const [history, decisions, releases, spend] = await Promise.all([
    stub.readTimeline(steps, after?.createdAt ?? ctx.nowMs, 2 * MAX_EVENTS),
    stub.decisions(),
    listReleases(openDatabase(ctx.env.DB), id, null, MAX_RELEASES),
    readSpend(ctx, endpoint, steps),
  ])
  const events = [...history.changes.map(ofWorker), ...decisions.map(ofScaler), ...releases.map(ofRelease)]
    .filter(({ atMs }) => atMs >= steps.fromMs && atMs < endMs)
    .toSorted((a, b) => b.atMs - a.atMs || (a.id < b.id ? 1 : -1))
    .filter((event) => after === null || event.atMs < after.createdAt || (event.atMs === after.createdAt && event.id < after.id))
  const { shown, pagination } = pageOf(events, MAX_EVENTS, binding, ({ atMs, id: place }) => ({ createdAt: atMs, id: place }))
  return {
    from: timeText(steps.fromMs),
    step: steps.stepMs / 1000,
    series: [
      ...history.counts.map(({ name, points, maxima }) => ({ name, unit: 'count' as const, points, maxima })),
      { name: 'spend', unit: 'usd', points: spend },
    ],
    events: shown.map(({ event }) => event),
    pagination,
  }
}

async function readSpend(ctx: VerbContext, { id }: OwnEndpoint, steps: Steps): Promise<(number | null)[]> {
  const window = { fromMs: steps.fromMs, toMs: steps.fromMs + steps.count * steps.stepMs }
  const charged = await readEndpointCharges(await openBillSources(ctx), ctx.principal.teamId, id, window)
  if (charged === null) return new Array<null>(steps.count).fill(null)
  const micros = spendSeries(charged, steps, ctx.nowMs, ({ fromMs, nanosPerHour }, part) => partMicros(nanosPerHour, fromMs, part))
  return micros.map(usdOfMicros)
}

const NOTHING = { workerId: null, phase: null, reason: null, release: null, decision: null }

function ofWorker({ n, atMs, ...change }: WorkerChange): Placed {
  return { atMs, id: `b${numbered(n)}`, event: { ...NOTHING, at: timeText(atMs), kind: 'WORKER', ...change } }
}

function ofScaler({ atMs, ...decision }: DecisionRecord): Placed {
  const event = { ...NOTHING, at: timeText(atMs), kind: 'SCALING' as const, reason: decision.reason }
  // An instant has at most one decision, and it sorts before its effects.
  return { atMs, id: 'a', event: { ...event, decision: { ...decision, decidedAt: formatTime(atMs) } } }
}

function ofRelease({ version, createdAt }: ReleaseRow): Placed {
  return { atMs: createdAt, id: `A${numbered(version)}`, event: { ...NOTHING, at: timeText(createdAt), kind: 'RELEASE', release: version } }
}

function numbered(value: number): string {
  return String(value).padStart(12, '0')
}

function timeText(atMs: number): string {
  return new Date(atMs).toISOString()
}
