import { JOB_STATES, type JobState } from '../../contract/enums.ts'
import { JobFilterQuery, readQuery } from '../../contract/jobs/queries.ts'
import { MAX_JOB_SEQ, parseJobSeq } from './id.ts'

/** Selects jobs of an endpoint (JOB-40). A null field matches every job. */
export interface JobFilter {
  states: readonly JobState[] | null
  /** Created at `fromMs` or later, and before `toMs`; milliseconds since the epoch. */
  fromMs: number | null
  toMs: number | null
  /** The beginning of the id, without `sync-`. */
  idPrefix: string | null
}

export const ANY_JOB: JobFilter = { states: null, fromMs: null, toMs: null, idPrefix: null }

/** A range of job numbers: `fromSeq` is included, `beforeSeq` is not. */
export interface SeqRange {
  fromSeq: number
  beforeSeq: number
}

/** The range of all job numbers. */
export const EVERY_JOB: SeqRange = { fromSeq: 0, beforeSeq: MAX_JOB_SEQ + 1 }

const SYNC = 'sync-'
/** The number of hexadecimal digits in an id that encode the job's number. */
const SEQ_DIGITS = 12

/** Parses the parameters of a query, or returns their fault. Several states may be in one `status` parameter or in several. */
export function readJobFilter(query: URLSearchParams): JobFilter | { fault: string } {
  const one = new URLSearchParams(query)
  if (query.has('status')) one.set('status', query.getAll('status').join(','))
  const read = readQuery(JobFilterQuery, one)
  if (!read.ok) return { fault: read.fault }
  const { status, from, to, id } = read.values
  const names = status?.split(',')
  return {
    states: names ? JOB_STATES.filter((state) => names.includes(state)) : null,
    fromMs: from === undefined ? null : Date.parse(from),
    toMs: to === undefined ? null : Date.parse(to),
    idPrefix: id === undefined ? null : withoutSync(id),
  }
}

function withoutSync(id: string): string {
  const lower = id.toLowerCase()
  return lower.startsWith(SYNC) ? lower.slice(SYNC.length) : lower
}

/** Whether a job matches. Includes the checks that `prefixRange` and a query by time make, so that a caller needs no other. */
export function matchesFilter(job: { id: string; state: JobState; createdAtMs: number }, filter: JobFilter): boolean {
  const { states, fromMs, toMs, idPrefix } = filter
  if (states !== null && !states.includes(job.state)) return false
  if (fromMs !== null && job.createdAtMs < fromMs) return false
  if (toMs !== null && job.createdAtMs >= toMs) return false
  return idPrefix === null || withoutSync(job.id).startsWith(idPrefix)
}

/**
 * The numbers of the jobs whose ids begin with a prefix. The first digits of an id are the job's number under a mask, most significant
 * first, so ids with the same prefix have adjacent numbers: no index over texts is needed.
 */
export function prefixRange(idPrefix: string, mask: readonly [number, number]): SeqRange {
  const digits = idPrefix.replaceAll('-', '').slice(0, SEQ_DIGITS)
  const fromSeq = unmask(digits.padEnd(SEQ_DIGITS, '0'), mask)
  const width = 16 ** (SEQ_DIGITS - digits.length)
  // The mask changes the padded digits too; the range begins where they are all zero.
  const begin = fromSeq - (fromSeq % width)
  return { fromSeq: begin, beforeSeq: Math.min(begin + width, MAX_JOB_SEQ + 1) }
}

function unmask(digits: string, mask: readonly [number, number]): number {
  const half = (from: number, index: 0 | 1) => (Number.parseInt(digits.slice(from, from + SEQ_DIGITS / 2), 16) ^ mask[index]) >>> 0
  return half(0, 0) * 16 ** (SEQ_DIGITS / 2) + half(SEQ_DIGITS / 2, 1)
}

/** The number of the job that the previous page ended with. Null: the list begins at the newest; undefined: the cursor is invalid. */
export function readCursor(cursor: string | null, mask: readonly [number, number]): number | null | undefined {
  if (cursor === null || cursor === '') return null
  return parseJobSeq(cursor, mask) ?? undefined
}
