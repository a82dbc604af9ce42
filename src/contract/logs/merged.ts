import { z } from 'zod'
import { LogLine, LogLinesQuery, LogPosition } from './lines.ts'

/** Most workers of an endpoint whose logs are merged: the present ones, then those that left last (LOG-34). */
export const MERGED_WORKERS_MAX = 100

/** Selects lines of all workers of an endpoint (LOG-34). */
export const MergedLinesQuery = LogLinesQuery.omit({ around: true, cursor: true }).extend({
  job: z
    .string()
    .min(1)
    .max(64)
    .optional()
    .meta({ description: 'Output of the workers of this job while they ran it, including other jobs of a worker at that time.' }),
  cursor: z
    .string()
    .regex(/^[<>]\d{1,16}\.[A-Za-z0-9_-]{1,64}\.\d{1,15}$/)
    .optional()
    .meta({ description: '`older`, `newer` or `truncatedAt` of another page of this log.', example: '<1780315323120.z3jr9rv2k3tt2y.17' }),
})
export type MergedLinesQuery = z.infer<typeof MergedLinesQuery>

const LINE = {
  n: 17,
  id: '2026-06-01T12:02:03Z/000000000017',
  ts: '2026-06-01T12:02:03.120Z',
  source: 'container' as const,
  line: 'loading the model',
  workerId: 'z3jr9rv2k3tt2y',
}

export const WorkerLogLine = LogLine.extend({ workerId: z.string() }).meta({ id: 'WorkerLogLine', example: LINE })

export const MergedLinesResponse = z.object({ lines: z.array(WorkerLogLine).meta({ description: 'Oldest first.' }), ...LogPosition }).meta({
  id: 'MergedLinesResponse',
  example: {
    lines: [LINE],
    older: '<1780315323120.z3jr9rv2k3tt2y.17',
    newer: '>1780315323120.z3jr9rv2k3tt2y.17',
    atEnd: true,
    truncatedAt: null,
  },
})
export type MergedLinesResponse = z.infer<typeof MergedLinesResponse>
