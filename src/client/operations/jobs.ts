import type { JobBulk, JobBulkRequest } from '../../contract/jobs/bulk.ts'
import type { ExplainReply } from '../../contract/jobs/explain.ts'
import type {
  HealthReply,
  JobRecord,
  MetricsReply,
  OpenaiBody,
  PurgeReply,
  RequestSeriesReply,
  RequestsReply,
  StreamReply,
  SubmitJobRequest,
} from '../../contract/jobs/jobs.ts'
import type { JobTimeline } from '../../contract/jobs/timeline.ts'
import { ANYTHING, as, create, get, patch, post, put, remove } from '../operation.ts'

export const JOBS_OPERATIONS = {
  runJob: create('/v2/{endpointId}/run', as<typeof JobRecord>(), as<typeof SubmitJobRequest>()),
  runJobSync: create('/v2/{endpointId}/runsync', as<typeof JobRecord>(), as<typeof SubmitJobRequest>()),
  getJobStatus: get('/v2/{endpointId}/status/{jobId}', as<typeof JobRecord>()),
  getJobStatusByPost: post('/v2/{endpointId}/status/{jobId}', as<typeof JobRecord>()),
  awaitJob: get('/v2/{endpointId}/status-sync/{jobId}', as<typeof JobRecord>()),
  awaitJobByPost: post('/v2/{endpointId}/status-sync/{jobId}', as<typeof JobRecord>()),
  streamJob: get('/v2/{endpointId}/stream/{jobId}', as<typeof StreamReply>()),
  streamJobByPost: post('/v2/{endpointId}/stream/{jobId}', as<typeof StreamReply>()),
  cancelJob: post('/v2/{endpointId}/cancel/{jobId}', as<typeof JobRecord>()),
  retryJob: post('/v2/{endpointId}/retry/{jobId}', as<typeof JobRecord>()),
  purgeQueue: post('/v2/{endpointId}/purge-queue', as<typeof PurgeReply>()),
  explainJob: get('/v2/{endpointId}/explain/{jobId}', as<typeof ExplainReply>()),
  getJobTimeline: get('/v2/{endpointId}/timeline/{jobId}', as<typeof JobTimeline>()),
  cancelJobs: post('/v2/{endpointId}/requests/cancel', as<typeof JobBulk>(), as<typeof JobBulkRequest>()),
  retryJobs: post('/v2/{endpointId}/requests/retry', as<typeof JobBulk>(), as<typeof JobBulkRequest>()),
  getJobBulk: get('/v2/{endpointId}/requests/bulk/{bulkId}', as<typeof JobBulk>()),
  getQueueHealth: get('/v2/{endpointId}/health', as<typeof HealthReply>()),
  listRequests: get('/v2/{endpointId}/requests', as<typeof RequestsReply>()),
  getQueueMetrics: get('/v2/{endpointId}/metrics', as<typeof MetricsReply>()),
  getRequestSeries: get('/v2/{endpointId}/metrics/request_ts_v1', as<typeof RequestSeriesReply>()),
  callOpenai: get('/v2/{endpointId}/openai/{route}', ANYTHING),
  postOpenai: post('/v2/{endpointId}/openai/{route}', ANYTHING, as<typeof OpenaiBody>()),
  putOpenai: put('/v2/{endpointId}/openai/{route}', ANYTHING, as<typeof OpenaiBody>()),
  patchOpenai: patch('/v2/{endpointId}/openai/{route}', ANYTHING, as<typeof OpenaiBody>()),
  deleteOpenai: remove('/v2/{endpointId}/openai/{route}', ANYTHING),
}
