import { z } from 'zod'
import { JobBulk, JobBulkRequest } from '../../contract/jobs/bulk.ts'
import { ExplainReply } from '../../contract/jobs/explain.ts'
import type { ClientOperation } from '../../contract/jobs/job-routes.ts'
import {
  HealthReply,
  JobRecord,
  MetricsReply,
  OpenaiBody,
  OpenaiProblem,
  PurgeReply,
  RequestSeriesReply,
  RequestsReply,
  StreamReply,
  SubmitJobRequest,
} from '../../contract/jobs/jobs.ts'
import {
  BulkQuery,
  RequestsQuery,
  SeriesQuery,
  StreamHeaders,
  StreamQuery,
  SubmitHeaders,
  SubmitQuery,
  WaitQuery,
} from '../../contract/jobs/queries.ts'
import { JobTimeline } from '../../contract/jobs/timeline.ts'

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete'

/** The documentation of an operation. Its path, methods and scope are in `JOB_ROUTES`. */
export interface DocumentedJob {
  operation: ClientOperation
  operationId: string
  summary: string
  description: string
  reply: z.ZodType
  /** Name of the single optional path segment after the operation. */
  segment?: string
  /** The methods that this entry documents; absent: all of the operation. */
  methods?: readonly Method[]
  body?: z.ZodType
  query?: z.ZodObject
  headers?: z.ZodObject
  /** Statuses in addition to those that every operation has. */
  statuses?: readonly number[]
  /** Contents of the `text/event-stream` answer, where there is one. */
  events?: { description: string; example: string }
  problem?: z.ZodType
}

const submit = { body: SubmitJobRequest, headers: SubmitHeaders, statuses: [413, 422] } as const
const ANY = z.unknown().meta({
  description: 'What the worker answered.',
  example: { id: 'chatcmpl-1', object: 'chat.completion', choices: [{ index: 0, message: { role: 'assistant', content: 'Hello.' } }] },
})

const OPENAI = { operation: 'openai', reply: ANY, problem: OpenaiProblem } as const
const OPENAI_TEXT = 'The path behind `openai` and the query reach the worker as they are.'
const OPENAI_EVENTS = {
  description: "With `stream`: the worker's own events, then `data: [DONE]`.",
  example: 'data: {"choices":[{"index":0,"delta":{"content":"Hello."}}]}\n\ndata: [DONE]\n\n',
}
const OPENAI_STATUSES = [410, 413, 500, 504]

const BULK_TEXT =
  'Responds at once; the jobs are changed in the background. Each is checked in its state at that time: a job that has ended meanwhile is skipped, ' +
  'and later jobs are not included. With `dryRun`, the response is only the plan.'

/** All operations, in the order of the document. */
export const OPERATIONS: readonly DocumentedJob[] = [
  {
    operation: 'run',
    operationId: 'runJob',
    summary: 'Submit a job',
    description: 'Answers at once with the id of the job. A repeated `Idempotency-Key` gives the job that the first call made.',
    reply: JobRecord,
    query: SubmitQuery,
    ...submit,
  },
  {
    operation: 'runsync',
    operationId: 'runJobSync',
    summary: 'Submit a job and wait for it',
    description: 'Responds when the job ends or `wait` has passed, with its current record. A disconnected client cancels nothing.',
    reply: JobRecord,
    query: SubmitQuery.extend(WaitQuery.shape),
    ...submit,
    statuses: [409, 413, 422],
  },
  {
    operation: 'status',
    operationId: 'getJobStatus',
    summary: 'State and result of a job',
    description: 'Responds at once. A result is stored for some time after the job ends; then the job is 404.',
    reply: JobRecord,
  },
  {
    operation: 'status-sync',
    operationId: 'awaitJob',
    summary: 'The same, waiting until it is over',
    description: 'Responds when the job ends or `wait` has passed, with its current record.',
    reply: JobRecord,
    query: WaitQuery,
  },
  {
    operation: 'stream',
    operationId: 'streamJob',
    summary: 'Results as they appear',
    description: 'As JSON: the chunks that no call has taken yet. With `Accept: text/event-stream`: all of them, as they come.',
    reply: StreamReply,
    query: StreamQuery,
    headers: StreamHeaders,
    events: {
      description:
        'An event a chunk (`id`, and `data` as in `stream`), then `event: end` with the job record. Nothing is removed by reading.',
      example: 'id: 1\ndata: {"output":"Once"}\n\nid: 2\ndata: {"output":" upon"}\n\n',
    },
  },
  {
    operation: 'cancel',
    operationId: 'cancelJob',
    summary: 'Cancel a job',
    description: 'A queued job never starts; the worker of a running job is asked to stop it.',
    reply: JobRecord,
  },
  {
    operation: 'retry',
    operationId: 'retryJob',
    summary: 'Queue a failed or timed-out job again',
    description: 'Under its own id and with its own input, as long as it is kept.',
    reply: JobRecord,
  },
  {
    operation: 'purge-queue',
    operationId: 'purgeQueue',
    summary: 'Cancel every queued job',
    description: 'Jobs that run go on.',
    reply: PurgeReply,
  },
  {
    operation: 'explain',
    operationId: 'explainJob',
    summary: 'Explain the state of a job: the queue before it, the workers, the scaler, the hosts',
    description: 'The first reason that applies, with its figures.',
    reply: ExplainReply,
  },
  {
    operation: 'timeline',
    operationId: 'getJobTimeline',
    summary: 'The history of a job: attempts, phases, workers, price, notifications',
    description: 'As long as the record of the job is kept. Medians of the endpoint stand beside the phases, for comparison.',
    reply: JobTimeline,
  },
  {
    operation: 'health',
    operationId: 'getQueueHealth',
    summary: 'Counts of jobs and workers',
    description: 'Of one moment, for dashboards and load generators.',
    reply: HealthReply,
  },
  {
    operation: 'requests',
    operationId: 'listRequests',
    summary: 'Jobs by state, time and id',
    description:
      'Newest first. A page may hold fewer than `limit` although others follow: go on while `hasNextPage` is true. An output that is too large to be listed is left out; `/status` has it.',
    reply: RequestsReply,
    query: RequestsQuery,
  },
  {
    operation: 'requests/cancel',
    operationId: 'cancelJobs',
    summary: 'Cancel many jobs, by state, time or id',
    description: BULK_TEXT,
    reply: JobBulk,
    body: JobBulkRequest,
    query: BulkQuery,
    statuses: [409, 413],
  },
  {
    operation: 'requests/retry',
    operationId: 'retryJobs',
    summary: 'Queue many failed and timed-out jobs again',
    description: BULK_TEXT,
    reply: JobBulk,
    body: JobBulkRequest,
    query: BulkQuery,
    statuses: [409, 413],
  },
  {
    operation: 'requests/bulk',
    operationId: 'getJobBulk',
    summary: 'How far a change of many jobs is',
    description: 'The newest hundred that are over stay readable.',
    reply: JobBulk,
  },
  {
    operation: 'metrics',
    operationId: 'getQueueMetrics',
    summary: 'Workers that are up',
    description: 'Ids of those that ask for work or run it, and how many are in each state.',
    reply: MetricsReply,
  },
  {
    operation: 'metrics',
    segment: 'request_ts_v1',
    operationId: 'getRequestSeries',
    summary: 'Ended jobs by time slot',
    description: 'Jobs that ended, counted by the slot in which they did.',
    reply: RequestSeriesReply,
    query: SeriesQuery,
  },
  {
    ...OPENAI,
    operationId: 'callOpenai',
    summary: 'A call of the OpenAI API, answered by a worker',
    description: OPENAI_TEXT,
    methods: ['get'],
    statuses: [410, 500, 504],
  },
  {
    ...OPENAI,
    operationId: 'postOpenai',
    summary: 'A call of the OpenAI API with a body, answered by a worker',
    description: OPENAI_TEXT,
    body: OpenaiBody,
    events: OPENAI_EVENTS,
    methods: ['post'],
    statuses: OPENAI_STATUSES,
  },
  // The other methods of the OpenAI API have the same handler.
  ...(['put', 'patch', 'delete'] as const).map((method) => ({
    ...OPENAI,
    operationId: `${method}Openai`,
    summary: `A ${method.toUpperCase()} of the OpenAI API, answered by a worker`,
    description: OPENAI_TEXT,
    methods: [method],
    ...(method !== 'delete' && { body: OpenaiBody, events: OPENAI_EVENTS }),
    statuses: OPENAI_STATUSES,
  })),
]
