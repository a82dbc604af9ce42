import type { LogSourceParam } from '../contract/pods/logs.ts'
import type { FoundLines, LineWish } from '../domain/logs/line-page.ts'
import type { LogStart } from '../domain/text/log-stream.ts'
import type { LogKind, LogLine } from '../host-protocol/logs.ts'

/** The object that keeps the log of one worker or pod, as everybody else knows it. `fetch` follows it (see `log-reading.ts`). */
export interface PodLogRpc extends Rpc.DurableObjectBranded {
  fetch(request: Request): Promise<Response>
  /**
   * Takes what is new of a batch and returns the highest number it has of that workload. A repeat changes nothing (HOST-11). Null when the
   * log belongs to somebody else.
   */
  append(writer: LogWriter, lines: readonly LogLine[]): Promise<number | null>
  /** A page for each wish (JL-10). */
  readLines(log: LogName, wishes: readonly LineWish[]): Promise<LinesReply>
  /** Removes the older lines from the bucket, for other logs of the account (JL-50); false while more are written. */
  shedArchive(): Promise<boolean>
}

/** Who writes a log: see `LogOwner` of `effects/log-access.ts`. */
export interface LogWriter {
  kind: LogKind
  ownerId: string
  workloadId: string
}

/** Pages, or why there are none: nobody has such a log, too many read it, or its bucket cannot be read. */
export type LinesReply = FoundLines[] | 'unknown' | 'busy' | 'away'

/** Which log is meant; the caller has checked that `ownerId` is the reader's. */
export interface LogName {
  kind: LogKind
  ownerId: string
  /** Whether the owner has this worker or pod now: then its log may be awaited before there is a line. */
  isKnown: boolean
}

/** What a reader wants. */
export interface LogRequest extends LogName {
  start: LogStart
  source?: LogSourceParam | undefined
}
