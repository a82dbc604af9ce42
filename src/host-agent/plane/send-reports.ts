import type { WorkloadReport } from '../../host-protocol/messages.ts'
import { errorText } from '../../node/fail.ts'
import type { Log } from '../log.ts'
import { type AccessTokens, IdentityRefused } from './access-tokens.ts'
import type { PlaneClock } from './clock-offset.ts'
import { isTransient, planeUrl, postToPlane } from './http.ts'
import type { SendResult } from './report-queue.ts'

/** Returns a function that sends a batch of reports to the plane once. */
export function createReportSender(base: string, tokens: AccessTokens, clock: PlaneClock, log: Log) {
  return async function sendReports(reports: WorkloadReport[]): Promise<SendResult> {
    try {
      const token = await tokens.get()
      // Times are converted as late as possible: the plane's clock may have been unknown when a report was made, perhaps by a previous
      // process.
      const body = { reports: reports.map((report) => byPlaneClock(report, clock)) }
      const answer = await postToPlane(planeUrl(base, '/host/v1/events'), body, clock, token)
      if (answer.status === 200) return 'taken'
      if (answer.status === 401) tokens.invalidate(token)
      log.warn('the plane did not accept reports', { status: answer.status, detail: answer.detail })
      // 401, 403 and 404 concern the host or the address, not these reports.
      const later = isTransient(answer.status) || answer.status < 400 || [401, 403, 404].includes(answer.status)
      return later ? 'later' : 'refused'
    } catch (error) {
      if (!(error instanceof IdentityRefused)) log.debug('reports are buffered; the plane cannot be reached', { error: errorText(error) })
      return 'later'
    }
  }
}

/** Returns the report with its time in the plane's clock, so that an event is billed and shown at the time it happened (HOST-60). */
export function byPlaneClock(report: WorkloadReport, clock: PlaneClock): WorkloadReport {
  return { ...report, at: Math.round(clock.fromHost(report.at)) }
}
