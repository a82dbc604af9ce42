import { JOB_DEFAULTS } from '../../contract/defaults.ts'
import { MAX_JSON_DEPTH, MAX_JSON_MEMBERS } from '../text/json-scan.ts'
import { type JsonObjectText, readJson, tryParse } from '../text/json-text.ts'
import { refuseWebhookUrl, type WebhookAllowList } from '../webhook/url.ts'
import { readS3Config } from './s3-config.ts'

/** A valid submit body (RUN-1, RUN-2, RUN-5, RUN-6). Durations in milliseconds. */
export interface Submission {
  /** JSON text of `input`, unchanged. */
  input: string
  executionTimeoutMs: number | null
  ttlMs: number
  lowPriority: boolean
  /** JSON text for the worker; a secret. */
  s3Config: string | null
  webhook: string | null
}

/** A valid submission, or why it is refused. */
export type SubmitResult = { ok: true; submission: Submission } | { ok: false; detail: string }

const MIN_TTL_MS = 10_000
const MIN_EXECUTION_TIMEOUT_MS = 5_000
const MAX_MS = 7 * 24 * 3600 * 1000
const MEMBERS = ['input', 'webhook', 's3Config', 'policy']
const POLICY_MEMBERS = ['executionTimeout', 'lowPriority', 'ttl']

/** The submission of a job with default options. `input` is JSON text. */
export function plainSubmission(input: string): Submission {
  return { input, executionTimeoutMs: null, ttlMs: JOB_DEFAULTS.ttl, lowPriority: JOB_DEFAULTS.lowPriority, webhook: null, s3Config: null }
}

/**
 * Reads the body of /run or /runsync. A refusal names the offending path. `queryTtl` is the `ttl` query parameter, if any; `allow` lists
 * the private hosts that a webhook may name (HOOK-7).
 */
export function readSubmission(text: string, queryTtl: string | null, allow: WebhookAllowList): SubmitResult {
  const members: JsonObjectText = new Map()
  const shape = readJson(text, MEMBERS, members, MAX_JSON_MEMBERS)
  if (!shape) return refuse(`$: the body is not valid JSON, or nests deeper than ${MAX_JSON_DEPTH} levels`)
  if (shape.kind !== 'object') return refuse('$: want an object with "input"')
  if (shape.count > MAX_JSON_MEMBERS) return refuse(`$: more than ${MAX_JSON_MEMBERS} members: put them into "input"`)
  const input = members.get('input')
  if (input === undefined) return refuse("$: missing property 'input'")
  if (!input.startsWith('{')) return refuse('$.input: want an object')
  const webhook = tryParse(members.get('webhook') ?? 'null')
  const problem = checkWebhook(webhook, allow)
  if (problem) return refuse(`$.webhook: ${problem}`)
  const s3Config = readS3Config(members.get('s3Config'))
  if (!s3Config.ok) return s3Config
  const policy = readPolicy(members.get('policy'))
  if (typeof policy === 'string') return refuse(policy)
  let ttlMs = policy.ttl
  if (ttlMs === undefined && queryTtl !== null) {
    ttlMs = /^\d{1,12}$/.test(queryTtl) ? Number(queryTtl) : Number.NaN
    const problem = checkRange('ttl (query)', ttlMs, MIN_TTL_MS)
    if (problem) return refuse(problem)
  }
  return {
    ok: true,
    submission: {
      input,
      executionTimeoutMs: policy.executionTimeout ?? null,
      ttlMs: ttlMs ?? JOB_DEFAULTS.ttl,
      lowPriority: policy.lowPriority ?? false,
      s3Config: s3Config.text,
      webhook: typeof webhook === 'string' ? webhook : null,
    },
  }
}

function checkWebhook(webhook: unknown, allow: WebhookAllowList): string | null {
  if (webhook === null) return null
  return typeof webhook === 'string' ? refuseWebhookUrl(webhook, allow) : 'want a string, the URL to notify'
}

/** Durations in milliseconds. */
interface Policy {
  executionTimeout?: number
  ttl?: number
  lowPriority?: boolean
}

function readPolicy(text: string | undefined): Policy | string {
  if (text === undefined || text === 'null') return {}
  const value = tryParse(text)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return '$.policy: want an object'
  const policy = value as Record<string, unknown>
  for (const name of Object.keys(policy)) {
    if (!POLICY_MEMBERS.includes(name)) return `$.policy: additional properties '${name.slice(0, 64)}' not allowed`
  }
  const timeout = checkRange('$.policy.executionTimeout', policy.executionTimeout, MIN_EXECUTION_TIMEOUT_MS)
  if (timeout) return timeout
  const ttl = checkRange('$.policy.ttl', policy.ttl, MIN_TTL_MS)
  if (ttl) return ttl
  if (policy.lowPriority !== undefined && typeof policy.lowPriority !== 'boolean') return '$.policy.lowPriority: want a boolean'
  return policy as Policy
}

function checkRange(path: string, value: unknown, min: number): string | null {
  if (value === undefined) return null
  if (typeof value !== 'number' || !Number.isInteger(value)) return `${path}: want an integer, milliseconds`
  if (value < min || value > MAX_MS) return `${path}: must be between ${min} and ${MAX_MS} milliseconds`
  return null
}

function refuse(detail: string): SubmitResult {
  return { ok: false, detail }
}
