import type { ApiClient, Query } from '../../../client/client.ts'
import type { ServerEvent } from '../../../client/events.ts'

interface Followed {
  signal: AbortSignal
  lastEventId?: string
}

/** A log that a view can show. */
export interface LogOrigin {
  /** Tells it from every other one. */
  key: string
  /** What it is the log of, such as `pod notebook`. */
  title: string
  /** Of the stream, for "copy as". */
  path: string
  /** What the command line calls it. */
  command: string
  follow: (api: ApiClient, query: Query, options: Followed) => AsyncGenerator<ServerEvent>
}

/** The log of a pod, also of its former containers. */
export function podLog(id: string): LogOrigin {
  return {
    key: `pod/${id}`,
    title: `pod ${id}`,
    path: `/v2/pods/${encodeURIComponent(id)}/logs`,
    command: `logs ${id}`,
    follow: (api, query, options) => api.getPodLogs({ path: { id }, query }, options),
  }
}

/** The log of a worker, also of one that has ended. */
export function workerLog(id: string, workerId: string): LogOrigin {
  return {
    key: `worker/${id}/${workerId}`,
    title: `worker ${workerId}`,
    path: `/v2/serverless/${encodeURIComponent(id)}/workers/${encodeURIComponent(workerId)}/logs`,
    command: `logs ${workerId} --endpoint ${id}`,
    follow: (api, query, options) => api.getWorkerLogs({ path: { id, workerId }, query }, options),
  }
}
