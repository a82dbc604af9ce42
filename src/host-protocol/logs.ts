import { z } from 'zod'
import { shown, withoutMachine } from './host-text.ts'

// The part of the host protocol that carries logs. An agent numbers the lines of a workload from 1; the plane takes each number once.

/** Maximum number of lines of one workload in a batch, and how long in ms the first of them waits for more. */
export const LOG_BATCH_LINES = 128
export const LOG_BATCH_WAIT_MS = 1_000
/** Maximum length of a line in characters; a longer one is split. */
export const LOG_LINE_MAX_CHARS = 16_384
/** Maximum number of batches in one request; one for each workload. */
export const LOG_REQUEST_BATCHES = 16
/** The last instant that RFC 3339 can express, milliseconds since the epoch. */
const LAST_INSTANT_MS = 253_402_300_799_999

/** Start of an agent's line about a program that has ended. */
const PROGRAMS_END = /^(?:exited with|killed by|ended without)/

const Id = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/)

/** `worker`: the log belongs to one workload of an endpoint. `pod`: to a pod, whose successive workloads share one log. */
export const LogKind = z.enum(['worker', 'pod'])
export type LogKind = z.infer<typeof LogKind>

/** `container`: output of the main process. `system`: events of the platform. */
export const LogSource = z.enum(['container', 'system'])
export type LogSource = z.infer<typeof LogSource>

/** Proof that a host was given a workload; the plane issues it for this one host, and each batch carries it. */
export const LogAccess = z.object({
  kind: LogKind,
  /** Endpoint of a worker, id of a pod. */
  ownerId: Id,
  grant: z.string().min(1).max(64),
})
export type LogAccess = z.infer<typeof LogAccess>

export const LogLine = z.object({
  /** Increases for each workload. Numbers may be missing; a `system` line reports lines that the agent had to drop. */
  seq: z.number().int().min(1),
  /** Host clock, milliseconds since the epoch. */
  at: z.number().int().min(0).max(LAST_INSTANT_MS),
  source: LogSource,
  line: z.string().max(LOG_LINE_MAX_CHARS),
})
export type LogLine = z.infer<typeof LogLine>

/**
 * Output of a program belongs to its tenant and stays unchanged. The platform's lines are text of a host; one about an exit quotes the last
 * line of the program (EDG-6).
 */
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

/** Result for each batch. A batch that is not listed was not taken and must be sent again. */
export const LogsResponse = z.object({
  results: z.array(
    z.union([
      /** The highest number that the plane has for this workload. */
      z.object({ workloadId: z.string(), takenSeq: z.number().int() }),
      /** Must not be sent again. */
      z.object({ workloadId: z.string(), refused: z.string() }),
    ]),
  ),
})
export type LogsResponse = z.infer<typeof LogsResponse>
