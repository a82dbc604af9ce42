import type { JobCall } from '../../../src/contract/jobs/job-routes.ts'
import { readQuery, SeriesQuery } from '../../../src/contract/jobs/queries.ts'
import { formatTime } from '../../../src/contract/timestamps.ts'
import { isEnded, type Job } from '../../../src/domain/job/job.ts'
import { jobRecordJson } from '../../../src/domain/job/record.ts'
import { bucketRequests } from '../../../src/domain/job/request-series.ts'
import { countWorkers } from '../../../src/domain/worker/worker.ts'
import { OUTPUT } from '../../../src/queue/state.ts'
import { occupiedWorkers } from '../../../src/queue/worker-rows.ts'
import { jsonReply } from '../../../src/rpc/plain-reply.ts'
import type { Clock, Commits, Rows } from '../parts.ts'
import { problemReply } from '../replies.ts'
import type { SqlState } from '../store/sql-state.ts'
import { pageOfJobs, paginationOf, readListing } from './job-list.ts'

/** Longer outputs and errors are left to `/status`, so that a thousand jobs fit in one reply. */
const MAX_LISTED_CHARS = 4 * 1024

/** HLT-4, JOB-40: `/requests`, the newest jobs first. */
export async function listRequests(core: Clock & Commits & Rows, call: JobCall): Promise<Response> {
  const listing = readListing(core, call)
  if ('fault' in listing) return problemReply('badRequest', listing.fault)
  const page = await pageOfJobs(core, listing.filter, listing.beforeSeq, listing.limit)
  const elements = page.jobs.map((job) => requestJson(core.state, job))
  return jsonReply(`{"requests":[${elements.join(',')}],"pagination":${JSON.stringify(paginationOf(page))}}`)
}

/** HLT-10: the status record with `createdAt` in its alphabetical place; `outputOmitted` replaces an output that is too large to list. */
function requestJson({ payloads }: SqlState, job: Job): string {
  const output = payloads.getShort(job.seq, OUTPUT, MAX_LISTED_CHARS)
  const shown = isEnded(job) ? { ...job, error: shorten(job.error), errorDetail: shorten(job.errorDetail) } : job
  const record = jobRecordJson(shown, output ?? undefined)
  const omitted = output === null ? ',"outputOmitted":true' : ''
  return `{"createdAt":"${formatTime(job.createdAtMs)}",${record.slice(1, -1)}${omitted}}`
}

function shorten(text: string | null): string | null {
  return text !== null && text.length > MAX_LISTED_CHARS ? `${text.slice(0, MAX_LISTED_CHARS)}…` : text
}

/** HLT-4: `/metrics`. Workers that poll or run jobs are listed as ready; the counters are those of `/health`. */
export function metrics(core: Clock & Rows, call: JobCall): Response {
  if (call.rest === 'request_ts_v1') return requestSeries(core, call)
  if (call.rest !== '') return problemReply('pathNotFound', 'The requested path was not found.')
  const workers = core.state.workers.all()
  const readyWorkers = workers.filter((worker) => worker.phase === 'READY').map((worker) => worker.id)
  return jsonReply(JSON.stringify({ readyWorkers, workers: countWorkers(workers, occupiedWorkers(core.state)) }))
}

/** HLT-12: `/metrics/request_ts_v1`, ended requests per interval. */
function requestSeries(core: Clock & Rows, call: JobCall): Response {
  const read = readQuery(SeriesQuery, call.query)
  if (!read.ok) return problemReply('badRequest', read.fault)
  const { interval } = read.values
  const series = bucketRequests(core.state.series.samples(), core.state.meta.totals(), interval, core.now())
  return jsonReply(JSON.stringify({ interval, series }))
}
