/** A route of the job API or the worker protocol, below `/v2/<endpoint>/`. One table defines routing, methods, keys and limits. */

/** A route of the job API or of the worker protocol. */
export interface JobRoute {
  methods: readonly string[]
  /** The kind of key that the route accepts: a client's API key, or a worker's own key (WRK-2). */
  caller: 'client' | 'worker'
  scope: 'jobs:read' | 'jobs:write' | null
  /** Path segments after the operation. */
  params: 'none' | 'optional' | 'job' | 'bulk' | 'worker' | 'worker-job' | 'rest'
  /** Largest request body, bytes (LIM-2); null: the body is never read. */
  maxBodyBytes: number | null
  /** The rate and concurrency limit that a call counts against (LIM-1); null: none. */
  bucket: LimitBucket | null
  /**
   * Whether a call changes the jobs of other callers, and so writes a row of the audit log (AUD-1). Submitting and reading jobs does not.
   */
  isAudited?: boolean
  /** Whether a call stores new jobs; a full disk refuses those first (PLANE-12). */
  addsWork?: boolean
  /** Whether `dryRun` returns a plan instead of the change. */
  isPlannable?: boolean
}

/** Operations with their own limit. */
export const LIMIT_BUCKETS = [
  'run',
  'runsync',
  'status',
  'stream',
  'cancel',
  'purge-queue',
  'openai',
  'requests',
  'health',
  'load-balancer',
] as const
export type LimitBucket = (typeof LIMIT_BUCKETS)[number]

/** Room for somewhat more than a thousand ids. */
const MAX_BULK_BYTES = 128 * 1024
/** Maximum size of the body of `/run` (LIM-2). */
export const MAX_RUN_BYTES = 10 * 2 ** 20
/** Maximum size of the body of `/runsync` (LIM-2). */
export const MAX_RUNSYNC_BYTES = 20 * 2 ** 20
/**
 * The endpoint's object checks the size of a worker's post and fails its job (LIM-3): a refusal here would make the worker drop its result.
 */
const ANY_SIZE = Number.MAX_SAFE_INTEGER
/** Largest stored result, bytes. A larger one fails the job with that reason (LIM-3). */
export const MAX_RESULT_BYTES = 20 * 2 ** 20
/** Largest chunk of a stream, bytes. A larger one fails the job with that reason (STR-8). */
export const MAX_CHUNK_BYTES = 1_000_000

const OF_CLIENTS = { caller: 'client', params: 'none', maxBodyBytes: null } as const
const READING = { ...OF_CLIENTS, methods: ['GET'], scope: 'jobs:read', bucket: 'requests' } as const
const READING_JOB = { ...READING, methods: ['GET', 'POST'], params: 'job' } as const
const WRITING = { ...OF_CLIENTS, methods: ['POST'], scope: 'jobs:write' } as const
const CHANGING_MANY = { ...WRITING, maxBodyBytes: MAX_BULK_BYTES, bucket: 'purge-queue', isAudited: true, isPlannable: true } as const
/** OAI-3: all methods with which a call can become a job. */
const FORWARDED = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
const POLLING = { methods: ['GET'], caller: 'worker', scope: null, params: 'worker', maxBodyBytes: null, bucket: null } as const
const POSTING = { ...POLLING, methods: ['POST'], params: 'worker-job', maxBodyBytes: ANY_SIZE } as const

export const JOB_ROUTES = {
  run: { ...WRITING, maxBodyBytes: MAX_RUN_BYTES, bucket: 'run', addsWork: true },
  runsync: { ...WRITING, maxBodyBytes: MAX_RUNSYNC_BYTES, bucket: 'runsync', addsWork: true },
  status: { ...READING_JOB, bucket: 'status' },
  'status-sync': { ...READING_JOB, bucket: 'status' },
  stream: { ...READING_JOB, bucket: 'stream' },
  cancel: { ...WRITING, params: 'job', bucket: 'cancel', isAudited: true },
  retry: { ...WRITING, params: 'job', bucket: 'run' },
  'purge-queue': { ...WRITING, bucket: 'purge-queue', isAudited: true },
  explain: { ...READING, params: 'job' },
  timeline: { ...READING, params: 'job' },
  health: { ...READING, bucket: 'health' },
  requests: READING,
  'requests/cancel': CHANGING_MANY,
  'requests/retry': CHANGING_MANY,
  'requests/bulk': { ...READING, params: 'bulk' },
  metrics: { ...READING, params: 'optional' },
  openai: { ...WRITING, methods: FORWARDED, params: 'rest', maxBodyBytes: MAX_RUNSYNC_BYTES, bucket: 'openai', addsWork: true },
  'job-take': POLLING,
  'job-take-batch': POLLING,
  'job-stop': POLLING,
  ping: POLLING,
  'job-done': POSTING,
  'job-stream': POSTING,
} as const satisfies Record<string, JobRoute>

export type JobOperation = keyof typeof JOB_ROUTES

/** Operations that workers call with their own key. */
export type WorkerOperation = { [Name in JobOperation]: (typeof JOB_ROUTES)[Name]['caller'] extends 'worker' ? Name : never }[JobOperation]
export type ClientOperation = Exclude<JobOperation, WorkerOperation>

export type ClientCall = CallOf<ClientOperation>
export type WorkerCall = CallOf<WorkerOperation>
/** A parsed request of the job API or of the worker protocol. */
export type JobCall = ClientCall | WorkerCall

interface CallOf<Operation> {
  endpointId: string
  operation: Operation
  route: JobRoute
  workerId: string
  jobId: string
  /** `rest` routes: path and query after the operation, unchanged (OAI-1). `optional` and `bulk` routes: the segment after it. */
  rest: string
  query: URLSearchParams
}

/** Whether a call comes from a worker; otherwise it comes from a client. */
export function isWorkerCall(call: JobCall): call is WorkerCall {
  return call.route.caller === 'worker'
}

/** Whether a call is a poll, on whose answer a worker waits. */
export function isPoll({ operation }: JobCall): boolean {
  return operation === 'job-take' || operation === 'job-take-batch' || operation === 'job-stop'
}

/** Parses a URL below `/v2/` into a call; null if there is no such route. */
export function parseJobCall(url: URL): JobCall | null {
  const [empty, version, endpointId, ...parts] = url.pathname.split('/')
  // Some operations have names of two segments.
  const isPair = Object.hasOwn(JOB_ROUTES, `${parts[0]}/${parts[1]}`)
  const [operation, first, second, ...rest] = isPair ? [`${parts[0]}/${parts[1]}`, ...parts.slice(2)] : parts
  if (empty !== '' || version !== 'v2' || !endpointId || !operation || !Object.hasOwn(JOB_ROUTES, operation)) return null
  const name = operation as JobOperation
  const route: JobRoute = JOB_ROUTES[name]
  const call = { endpointId, operation: name, route, workerId: '', jobId: '', rest: '', query: url.searchParams } as JobCall
  if (route.params === 'rest') {
    const path = url.pathname.slice(`/v2/${endpointId}/${operation}`.length)
    return path === '' ? null : { ...call, rest: withSlashes(path) + url.search }
  }
  const segments = [first, second, ...rest].filter((segment): segment is string => segment !== undefined)
  if (route.params === 'optional' && segments.length === 0) return call
  const wanted = route.params === 'none' ? 0 : route.params === 'worker-job' ? 2 : 1
  if (segments.length !== wanted || segments.some((segment) => segment === '')) return null
  if (route.params === 'bulk') return { ...call, rest: decodeSegment(first ?? '') }
  if (route.params === 'job') return { ...call, jobId: decodeSegment(first ?? '') }
  if (route.params === 'none') return call
  if (route.params === 'optional') return { ...call, rest: first ?? '' }
  const worker = splitGluedQuery(first ?? '', url.searchParams)
  const job = route.params === 'worker-job' ? splitGluedQuery(second ?? '', worker.query) : { segment: '', query: worker.query }
  return { ...call, workerId: decodeSegment(worker.segment), jobId: decodeSegment(job.segment), query: job.query }
}

// WRK-3: if the URL template has no `?`, the worker appends its parameters to the last path segment.
function splitGluedQuery(segment: string, query: URLSearchParams): { segment: string; query: URLSearchParams } {
  const at = segment.indexOf('&')
  if (at === -1) return { segment, query }
  const merged = new URLSearchParams(segment.slice(at + 1))
  for (const [name, value] of query) merged.append(name, value)
  return { segment: segment.slice(0, at), query: merged }
}

// OAI-15: generated clients treat the route as one segment and encode its slashes. Any other path stays unchanged: in
// `/v1/models/org%2Fname` the encoded slash is part of a name.
function withSlashes(path: string): string {
  return path.lastIndexOf('/') === 0 ? path.replaceAll(/%2f/gi, '/') : path
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
