import { type LogBatch, LogsResponse } from '../../host-protocol/logs.ts'
import { errorText } from '../../node/fail.ts'
import type { Log } from '../log.ts'
import { type AccessTokens, IdentityRefused } from './access-tokens.ts'
import type { PlaneClock } from './clock-offset.ts'
import { planeUrl, postToPlane } from './http.ts'

/** Returns a function that sends batches of log lines to the plane once; its result is undefined when the plane did not take them. */
export function createLogSender(base: string, tokens: AccessTokens, clock: PlaneClock, log: Log) {
  return async function sendLogs(batches: LogBatch[]): Promise<LogsResponse | undefined> {
    try {
      const token = await tokens.get()
      const answer = await postToPlane(planeUrl(base, '/host/v1/logs'), { batches }, clock, token)
      if (answer.status === 200) return LogsResponse.parse(answer.body)
      if (answer.status === 401) tokens.invalidate(token)
      log.warn('the plane did not accept log lines', { status: answer.status, detail: answer.detail })
    } catch (error) {
      if (!(error instanceof IdentityRefused)) log.debug('log lines are buffered; the plane cannot be reached', { error: errorText(error) })
    }
    return undefined
  }
}
