import { z } from 'zod'
import { METRIC_NAMES, METRIC_UNITS } from './enums.ts'
import { Timestamp, wholeNumber } from './fields.ts'
import { readDigits } from './query-values.ts'

const MIN_STEP_SECONDS = 5
const MAX_STEP_SECONDS = 86_400
const Moment = z.iso.datetime({ offset: true })

/** Query of every answer with series (HIS-5). */
export const MetricsQuery = z.object({
  from: Moment.optional().meta({ description: 'RFC 3339. Default: an hour before `to`.', example: '2026-06-01T12:00:00Z' }),
  to: Moment.optional().meta({ description: 'RFC 3339, exclusive. Default: now.', example: '2026-06-01T13:00:00Z' }),
  step: z.preprocess(readDigits, z.number().int().min(MIN_STEP_SECONDS).max(MAX_STEP_SECONDS)).optional().meta({
    description:
      'Seconds between points. Default: the finest resolution that is stored for that time: 5 for 10 minutes, 60 for 24 hours, 900 for 30 days. The response contains it.',
    example: 60,
  }),
})
export type MetricsQuery = z.infer<typeof MetricsQuery>

export const IfNoneMatchHeaders = z.object({
  'If-None-Match': z.string().optional().meta({ description: 'The `ETag` of an earlier response; 304 if the response would be the same.' }),
})

const Points = z.array(z.number().nullable())

export const MetricSeries = z
  .object({
    name: z.enum(METRIC_NAMES).meta({ id: 'MetricName', example: 'cpu' }),
    unit: z.enum(METRIC_UNITS).meta({ id: 'MetricUnit', example: 'percent' }),
    gpu: wholeNumber(0).optional().meta({ description: 'Index of the GPU, from 0; omitted for other metrics.' }),
    points: Points.meta({ description: 'The mean of each step; null: no data.' }),
    maxima: Points.optional().meta({ description: 'The maximum within each step; omitted if a step is one sample.' }),
  })
  .meta({ id: 'MetricSeries', description: 'One metric over time.', example: { name: 'cpu', unit: 'percent', points: [3, null, 41] } })
export type MetricSeries = z.infer<typeof MetricSeries>

export const MetricsResponse = z
  .object({
    from: Timestamp,
    step: wholeNumber(1).meta({ description: 'Seconds between points.' }),
    series: z.array(MetricSeries).meta({ description: 'Each has the same number of points, at most 1500.' }),
  })
  .meta({
    id: 'MetricsResponse',
    description: 'Data by columns: the n-th point of every series is at `from` + n × `step`.',
    example: {
      from: '2026-06-01T12:00:00Z',
      step: 60,
      series: [{ name: 'cpu', unit: 'percent', points: [3, null, 41], maxima: [9, null, 88] }],
    },
  })
export type MetricsResponse = z.infer<typeof MetricsResponse>
