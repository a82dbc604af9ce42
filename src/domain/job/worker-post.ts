import { isJson, type JsonObjectText, jsonMembers, repairPythonJson, tryParse } from '../text/json-text.ts'

/** Upper bound of a stored error text: it is part of every status reply, and a row of the queue is limited too. */
const MAX_ERROR_CHARS = 64 * 1024
const MEMBERS = ['output', 'status', 'error', 'stopPod']

/** The contents of a worker's `job-done` body (WRK-5, WRK-13, WRK-14). `output` is JSON text, unchanged. */
export type WorkerPost =
  | { kind: 'progress'; output: string }
  | { kind: 'result'; output: string | undefined; error: string | null; stopWorker: boolean }

/**
 * Reads a `job-done` body. Never refuses one: a worker drops a result that is answered with 4xx (WRK-18), so an unreadable body becomes a
 * failed result that says so.
 */
export function readWorkerPost(body: string): WorkerPost {
  const members = membersOf(body)
  if (!members)
    return { kind: 'result', output: undefined, error: 'the worker returned a result that is not a JSON object', stopWorker: false }
  const output = members.get('output')
  if (tryParse(members.get('status') ?? 'null') === 'IN_PROGRESS') return { kind: 'progress', output: output ?? 'null' }
  return {
    kind: 'result',
    output,
    error: readError(members.get('error')),
    stopWorker: tryParse(members.get('stopPod') ?? 'null') === true,
  }
}

// Most bodies are valid JSON, so they are parsed once; only others are repaired first.
function membersOf(body: string): JsonObjectText | null {
  return jsonMembers(body, MEMBERS) ?? jsonMembers(repairPythonJson(body), MEMBERS)
}

/** WRK-13, API-9: a truthy `error` of any type fails the job, and clients get a string. */
function readError(text: string | undefined): string | null {
  if (text === undefined) return null
  const value = tryParse(text)
  if (!value) return null
  const error = typeof value === 'string' ? value : JSON.stringify(value)
  return error.length > MAX_ERROR_CHARS ? `${error.slice(0, MAX_ERROR_CHARS)}… (${error.length} characters)` : error
}

/** STR-2: a chunk is stored as posted if it is an object with `output`, else wrapped. */
export function readChunk(body: string): string {
  const text = repairPythonJson(body)
  const members = jsonMembers(text, MEMBERS)
  if (members?.has('output')) return text.trim()
  return !isJson(text) ? `{"output":${JSON.stringify(body)}}` : `{"output":${text.trim()}}`
}
