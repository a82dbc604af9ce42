import { z } from 'zod'
import { shown, withoutMachine } from './host-text.ts'

// The part of the host protocol that carries logs. Lines of a workload are numbered from 1 by its agent; the plane takes a number once.

/** Most lines of one workload in a batch, and how long the first of them waits for more, milliseconds. */
export const LOG_BATCH_LINES = 128
export const LOG_BATCH_WAIT_MS = 1_000
/** Longest line, characters; a longer one arrives as several. */
export const LOG_LINE_MAX_CHARS = 16_384
/** Most batches in one request, one a workload. */
export const LOG_REQUEST_BATCHES = 16
/** Last instant that RFC 3339 can write, milliseconds since the epoch. */
const LAST_INSTANT_MS = 253_402_300_799_999

/** How the agent begins what it says of a program that has ended. */
const PROGRAMS_END = /^(?:exited with|killed by|ended without)/

const Id = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/)

/** `worker`: the log belongs to one workload of an endpoint. `pod`: to a pod, whose workloads follow one another in the same log. */
export const LogKind = z.enum(['worker', 'pod'])
export type LogKind = z.infer<typeof LogKind>

/** `container`: output of the main process. `system`: what the platform did with it. */
export const LogSource = z.enum(['container', 'system'])
export type LogSource = z.infer<typeof LogSource>

/** Proof that a host was given a workload, made by the plane for this one host and sent back with each batch. */
export const LogAccess = z.object({
  kind: LogKind,
  /** Endpoint of a worker, id of a pod. */
  ownerId: Id,
  grant: z.string().min(1).max(64),
})
export type LogAccess = z.infer<typeof LogAccess>

export const LogLine = z.object({
  /** Rises per workload. Numbers may be missing: what the agent had to drop is told by a `system` line. */
  seq: z.number().int().min(1),
  /** Host clock, milliseconds since the epoch. */
  at: z.number().int().min(0).max(LAST_INSTANT_MS),
  source: LogSource,
  line: z.string().max(LOG_LINE_MAX_CHARS),
})
export type LogLine = z.infer<typeof LogLine>

/** A program's output is its tenant's, as it is. The platform's own lines are words of a host, about an end with the last line of the program (EDG-6). */
function readLine(given: LogLine): LogLine {
  if (given.source === 'container') return given
  const line = shown(given.line)
  return { ...given, line: PROGRAMS_END.test(line) ? line : withoutMachine(line) }
}

export const LogBatch = z.object({
  workloadId: Id,
  access: LogAccess,
  /** In the order of their numbers. */
  lines: z.array(LogLine.transform(readLine)).min(1).max(LOG_BATCH_LINES),
})
export type LogBatch = z.infer<typeof LogBatch>

export const LogsRequest = z.object({ batches: z.array(LogBatch).min(1).max(LOG_REQUEST_BATCHES) })
export type LogsRequest = z.infer<typeof LogsRequest>

/** What became of each batch. One that is not listed was not taken and is to be sent again. */
export const LogsResponse = z.object({
  results: z.array(
    z.union([
      /** The highest number that the plane has of this workload. */
      z.object({ workloadId: z.string(), takenSeq: z.number().int() }),
      /** Never to be sent again. */
      z.object({ workloadId: z.string(), refused: z.string() }),
    ]),
  ),
})
export type LogsResponse = z.infer<typeof LogsResponse>
