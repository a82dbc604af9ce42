import type { LogSourceParam } from '../contract/pods/logs.ts'
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
}

/** Who writes a log: see `LogOwner` of `effects/log-access.ts`. */
export interface LogWriter {
  kind: LogKind
  ownerId: string
  workloadId: string
}

/** What a reader wants; the caller has checked that `ownerId` is the reader's. */
export interface LogRequest {
  kind: LogKind
  ownerId: string
  /** Whether the owner has this worker or pod now: then its log may be awaited before there is a line. */
  isKnown: boolean
  start: LogStart
  source?: LogSourceParam | undefined
}
