import { JOB_STATES, type JobState } from '../../contract/enums.ts'
import { MAX_JOB_SEQ, parseJobSeq } from './id.ts'

/** Which jobs of an endpoint somebody means (JL-1). Null: of any kind. */
export interface JobFilter {
  states: readonly JobState[] | null
  /** Created at this time or later, and before that one; milliseconds since the epoch. */
  fromMs: number | null
  toMs: number | null
  /** How the id begins, `sync-` aside. */
  idPrefix: string | null
}

export const ANY_JOB: JobFilter = { states: null, fromMs: null, toMs: null, idPrefix: null }

/** Job numbers, the first included and the last not. */
export interface SeqRange {
  fromSeq: number
  beforeSeq: number
}

/** Every number that a job may have. */
export const EVERY_JOB: SeqRange = { fromSeq: 0, beforeSeq: MAX_JOB_SEQ + 1 }

const SYNC = 'sync-'
/** As much of an id as anybody may have. */
const PREFIX = /^(sync-)?[0-9a-f-]{1,41}(-u1?)?$/i
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)$/
/** Hexadecimal digits of an id that are the job's number. */
const SEQ_DIGITS = 12

/** What the parameters of a query mean, or what is wrong with them. Several states stand in one parameter or in several. */
export function readJobFilter(query: URLSearchParams): JobFilter | { fault: string } {
  const names = query.getAll('status').flatMap((text) => text.split(',').filter((name) => name !== ''))
  const unknown = names.find((name) => !isJobState(name.toUpperCase()))
  if (unknown !== undefined) return { fault: `status: "${unknown}" is no state of a job; use ${JOB_STATES.join(', ')}` }
  const fromMs = readTime(query.get('from'))
  const toMs = readTime(query.get('to'))
  if (fromMs === undefined) return { fault: 'from: not a time such as 2026-08-01T12:00:00Z' }
  if (toMs === undefined) return { fault: 'to: not a time such as 2026-08-01T12:00:00Z' }
  const id = query.get('id')
  if (id !== null && id !== '' && !PREFIX.test(id)) return { fault: 'id: not the beginning of a job id' }
  const states = JOB_STATES.filter((state) => names.some((name) => name.toUpperCase() === state))
  return { states: states.length > 0 ? states : null, fromMs, toMs, idPrefix: id === null || id === '' ? null : withoutSync(id) }
}

function isJobState(name: string): name is JobState {
  return (JOB_STATES as readonly string[]).includes(name)
}

/** Undefined: unreadable. */
function readTime(text: string | null): number | null | undefined {
  if (text === null || text === '') return null
  const atMs = TIME.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(atMs) ? undefined : atMs
}

function withoutSync(id: string): string {
  const lower = id.toLowerCase()
  return lower.startsWith(SYNC) ? lower.slice(SYNC.length) : lower
}

/** Whether a job is meant. Its place in the range of `prefixRange` and its time are looked at too, so that every caller may ask this alone. */
export function matchesFilter(job: { id: string; state: JobState; createdAtMs: number }, filter: JobFilter): boolean {
  const { states, fromMs, toMs, idPrefix } = filter
  if (states !== null && !states.includes(job.state)) return false
  if (fromMs !== null && job.createdAtMs < fromMs) return false
  if (toMs !== null && job.createdAtMs >= toMs) return false
  return idPrefix === null || withoutSync(job.id).startsWith(idPrefix)
}

/**
 * The numbers of the jobs whose ids begin so. The first digits of an id are the job's number under a mask, most significant first, so what
 * begins alike lies side by side: no index over texts is needed.
 */
export function prefixRange(idPrefix: string, mask: readonly [number, number]): SeqRange {
  const digits = idPrefix.replaceAll('-', '').slice(0, SEQ_DIGITS)
  const fromSeq = unmask(digits.padEnd(SEQ_DIGITS, '0'), mask)
  const width = 16 ** (SEQ_DIGITS - digits.length)
  // The mask turns digits that are not given as well; the range begins where they are all zero.
  const begin = fromSeq - (fromSeq % width)
  return { fromSeq: begin, beforeSeq: Math.min(begin + width, MAX_JOB_SEQ + 1) }
}

function unmask(digits: string, mask: readonly [number, number]): number {
  const half = (from: number, index: 0 | 1) => (Number.parseInt(digits.slice(from, from + SEQ_DIGITS / 2), 16) ^ mask[index]) >>> 0
  return half(0, 0) * 16 ** (SEQ_DIGITS / 2) + half(SEQ_DIGITS / 2, 1)
}

/** Where a list goes on: behind the job that its last page ended with. Null: at the newest; undefined: no such cursor. */
export function readCursor(cursor: string | null, mask: readonly [number, number]): number | null | undefined {
  if (cursor === null || cursor === '') return null
  return parseJobSeq(cursor, mask) ?? undefined
}
