import type { LogSourceParam } from '../contract/logs/stream.ts'
import type { FoundLines, LineQuery } from '../domain/logs/line-page.ts'
import type { LogStart } from '../domain/text/log-stream.ts'
import type { LogKind, LogLine } from '../host-protocol/logs.ts'

/** RPC interface of the object that stores the log of one worker or pod. `fetch` follows it (see `log-reading.ts`). */
export interface PodLogRpc extends Rpc.DurableObjectBranded {
  fetch(request: Request): Promise<Response>
  /**
   * Appends the new lines of a batch and returns the highest line number stored of that workload. A repeat changes nothing (HOST-11). Null
   * when the log belongs to another owner.
   */
  append(writer: LogWriter, lines: readonly LogLine[]): Promise<number | null>
  /** One page per query (LOG-30). */
  readLines(log: LogName, queries: readonly LineQuery[]): Promise<LinesReply>
  /** Deletes the older lines from the bucket, for other logs of the account (LOG-35); false while more are being written. */
  shedArchive(): Promise<boolean>
}

/** A workload that writes to a log, and the owner of the log. */
export interface LogWriter {
  kind: LogKind
  /** Id of a worker's endpoint, or of the pod. */
  ownerId: string
  workloadId: string
}

/** Pages, or the reason why there are none: no such log, too many readers, or its bucket cannot be read. */
export type LinesReply = FoundLines[] | 'unknown' | 'busy' | 'away'

/** Identifies a log; the caller has checked that the reader owns `ownerId`. */
export interface LogName {
  kind: LogKind
  ownerId: string
  /** Whether the owner currently has this worker or pod: then its log may be followed before it has a line. */
  isKnown: boolean
}

/** Request to follow a log. */
export interface LogRequest extends LogName {
  start: LogStart
  source?: LogSourceParam | undefined
}
