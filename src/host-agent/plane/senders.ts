import { type LogBatch, LogsResponse } from '../../host-protocol/logs.ts'
import type { WorkloadReport } from '../../host-protocol/messages.ts'
import type { OverlayReport } from '../../host-protocol/overlays.ts'
import { type VolumesRequest, VolumesResponse } from '../../host-protocol/volumes.ts'
import { errorText } from '../../node/fail.ts'
import type { Log } from '../log.ts'
import { type AccessTokens, IdentityRefused } from './access-tokens.ts'
import type { PlaneClock } from './clock-offset.ts'
import { isTransient, type PlaneAnswer, planeUrl, postToPlane } from './http.ts'
import type { SendResult } from './report-queue.ts'

export interface SenderDeps {
  planeUrl: string
  tokens: AccessTokens
  clock: PlaneClock
  log: Log
}

/** Paths below `/host/v1`, with the log lines about a refusal and about a plane that cannot be reached. */
const POSTS = {
  events: ['the plane did not accept reports', 'reports are buffered; the plane cannot be reached'],
  logs: ['the plane did not accept log lines', 'log lines are buffered; the plane cannot be reached'],
  overlays: ['the plane did not accept the report on private networks', 'the report on private networks cannot be sent to the plane'],
  volumes: ['the plane did not accept the report on volumes', 'the report on volumes cannot be sent to the plane'],
} as const

/** Posts to the plane once; undefined when there was no answer. Never throws. `body` is called once there is a token. */
async function post(deps: SenderDeps, path: keyof typeof POSTS, body: () => unknown): Promise<PlaneAnswer | undefined> {
  const { tokens, clock, log } = deps
  const [refused, unreached] = POSTS[path]
  try {
    const token = await tokens.get()
    const answer = await postToPlane(planeUrl(deps.planeUrl, `/host/v1/${path}`), body(), clock, token)
    if (answer.status === 401) tokens.invalidate(token)
    // A plane that does not know volumes has no such endpoint.
    const isAbsent = path === 'volumes' && answer.status === 404
    if (answer.status !== 200 && !isAbsent) log.warn(refused, { status: answer.status, detail: answer.detail })
    return answer
  } catch (error) {
    if (!(error instanceof IdentityRefused)) log.debug(unreached, { error: errorText(error) })
    return undefined
  }
}

/** Returns a function that sends a batch of reports to the plane once. */
export function createReportSender(deps: SenderDeps) {
  return async (reports: readonly WorkloadReport[]): Promise<SendResult> => {
    // Times are converted as late as possible: the plane's clock may have been unknown when a report was made, perhaps by a previous
    // process.
    const answer = await post(deps, 'events', () => ({ reports: reports.map((report) => byPlaneClock(report, deps.clock)) }))
    if (answer?.status === 200) return 'taken'
    // 401, 403 and 404 concern the host or the address, not these reports.
    const isRefused =
      answer !== undefined && answer.status >= 400 && !isTransient(answer.status) && ![401, 403, 404].includes(answer.status)
    return isRefused ? 'refused' : 'later'
  }
}

/** Returns the report with its time in the plane's clock, so that an event is billed and shown at the time it happened (HOST-60). */
export function byPlaneClock(report: WorkloadReport, clock: PlaneClock): WorkloadReport {
  return { ...report, at: Math.round(clock.fromHost(report.at)) }
}

/** Returns a function that sends batches of log lines to the plane once; its result is undefined when the plane did not take them. */
export function createLogSender(deps: SenderDeps) {
  return async (batches: LogBatch[]): Promise<LogsResponse | undefined> => {
    const answer = await post(deps, 'logs', () => ({ batches }))
    return answer?.status === 200 ? LogsResponse.safeParse(answer.body).data : undefined
  }
}

/** Returns a function that reports to the plane once which members of private networks reach one another; false: the plane did not take it. */
export function createOverlaysSender(deps: SenderDeps) {
  return async (reports: OverlayReport[]): Promise<boolean> => (await post(deps, 'overlays', () => ({ reports })))?.status === 200
}

/** Returns a function that reports volumes to the plane once; its result is undefined when the plane did not take it. */
export function createVolumesSender(deps: SenderDeps) {
  return async (request: VolumesRequest): Promise<VolumesResponse | undefined> => {
    const answer = await post(deps, 'volumes', () => request)
    return answer?.status === 200 ? VolumesResponse.safeParse(answer.body).data : undefined
  }
}
