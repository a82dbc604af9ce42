import { z } from 'zod'
import { wholeNumber } from '../fields.ts'
import { MetricsQuery } from '../metrics.ts'
import { Pagination } from '../pagination.ts'
import { ScalingEvent } from './scaling.ts'

const MIN_STEP_SECONDS = 10
const Instant = z.string().meta({ format: 'date-time', description: 'With milliseconds.' })
const Points = z.array(z.number().nullable())
const PHASES = ['PLACING', 'STARTING', 'READY', 'DRAINING', 'FAILED', 'GONE'] as const
const NAMES = ['queued', 'inProgress', 'starting', 'throttled', 'ready', 'failed', 'spend'] as const

/** Query of an endpoint's timeline (HIS-21). */
export const TimelineQuery = MetricsQuery.extend({
  step: MetricsQuery.shape.step.meta({
    description: `Seconds between points, rounded up to a multiple of ${MIN_STEP_SECONDS}. By default the response has some hundred points. The response contains the step.`,
    example: 60,
  }),
  cursor: z.string().min(1).optional().meta({ description: 'Opaque position among the events of this time range.' }),
})
export type TimelineQuery = z.infer<typeof TimelineQuery>

const SERIES = { name: 'queued' as const, unit: 'count' as const, points: [0, 3, null], maxima: [2, 9, null] }

export const TimelineSeries = z
  .object({
    name: z.enum(NAMES).meta({ id: 'TimelineSeriesName', example: 'queued' }),
    unit: z.enum(['count', 'usd']).meta({ id: 'TimelineUnit', example: 'count' }),
    points: Points.meta({ description: 'The value at the end of each step; for `spend`, the cost of the step. Null: unknown.' }),
    maxima: Points.optional().meta({ description: 'The maximum within each step; not for `spend`.' }),
  })
  .meta({ id: 'TimelineSeries', example: SERIES })

const EVENT = {
  at: '2026-06-01T12:00:00.000Z',
  kind: 'WORKER' as const,
  workerId: 'z3jr9rv2k3tt2y',
  phase: 'READY' as const,
  reason: null,
  release: 3,
  decision: null,
}

export const TimelineEvent = z
  .object({
    at: Instant,
    kind: z.enum(['WORKER', 'SCALING', 'RELEASE']),
    workerId: z.string().nullable().meta({ description: 'Id of the worker whose state changed.' }),
    phase: z.enum(PHASES).nullable().meta({ description: 'The new state.' }),
    reason: z.string().nullable().meta({ description: 'The reason, including changes of its host.' }),
    release: wholeNumber(0).nullable().meta({ description: 'The release that a worker runs, or the new current release.' }),
    decision: ScalingEvent.nullable().meta({ description: 'The decision of the scaler with its inputs.' }),
  })
  .meta({ id: 'TimelineEvent', example: EVENT })
export type TimelineEvent = z.infer<typeof TimelineEvent>

export const EndpointTimeline = z
  .object({
    from: Instant,
    step: wholeNumber(1).meta({ description: 'Seconds between points.' }),
    series: z.array(TimelineSeries).meta({ description: 'Each has the same number of points, at most 1500.' }),
    events: z.array(TimelineEvent).meta({ description: 'Newest first, at most 500.' }),
    pagination: Pagination,
  })
  .meta({
    id: 'EndpointTimeline',
    description: 'Queue, workers, cost and events of an endpoint over a time range.',
    example: {
      from: '2026-06-01T12:00:00.000Z',
      step: 60,
      series: [SERIES],
      events: [EVENT],
      pagination: { nextCursor: null, hasNextPage: false },
    },
  })
export type EndpointTimeline = z.infer<typeof EndpointTimeline>
