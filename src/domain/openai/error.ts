import { type OpenaiError, openaiError } from '../../contract/problem-body.ts'
import { tryParse } from '../text/json-text.ts'
import { readPythonLiteral } from '../text/python-literal.ts'

const LOWEST_ERROR_STATUS = 400
const HIGHEST_ERROR_STATUS = 599
const UNSURE_STATUS = 500
/** The text that the Python SDK makes of an exception in a generator; callers of this API get no traceback. */
const GENERATOR_ERROR = /^handler: ([\s\S]*?) ?\ntraceback: /
/** A longer output is not searched for an error: it is an answer. */
const MAX_ERROR_TEXT_CHARS = 64 * 1024

/**
 * OAI-7: the error that a job's `error` text means. Workers send JSON, the Python text form of a dict, or plain text. The status is the
 * first from 400 to 599 in a field of the error, else 500.
 */
export function readWorkerError(text: string): OpenaiError {
  const value = tryParse(text) ?? readPythonLiteral(text)
  const errorText = typeof value === 'string' ? value : text
  return readErrorObject(value) ?? openaiError(UNSURE_STATUS, GENERATOR_ERROR.exec(errorText)?.[1] ?? errorText)
}

/** The error that a worker returned as if it were an answer: `{"object":"error",…}` or `{"error":{…}}`; null for any other JSON text. */
export function readErrorOutput(output: string): OpenaiError | null {
  if (output.length > MAX_ERROR_TEXT_CHARS || !output.startsWith('{')) return null
  const value = tryParse(output)
  if (!isRecord(value)) return null
  return value.object === 'error' || isRecord(value.error) ? readErrorObject(value) : null
}

function readErrorObject(value: unknown): OpenaiError | null {
  if (!isRecord(value)) return null
  const error = isRecord(value.error) ? value.error : value
  const message = error.message ?? error.error_message
  if (typeof message !== 'string') return null
  const status = [error.status, error.status_code, error.code, value.status].map(readStatus).find((found) => found !== null)
  const known = openaiError(status ?? UNSURE_STATUS, message)
  return {
    ...known,
    type: typeof error.type === 'string' ? error.type : known.type,
    code: typeof error.code === 'string' && readStatus(error.code) === null ? error.code : null,
  }
}

function readStatus(value: unknown): number | null {
  const status = typeof value === 'string' && /^\d{3}$/.test(value) ? Number(value) : value
  const isError = Number.isInteger(status) && Number(status) >= LOWEST_ERROR_STATUS && Number(status) <= HIGHEST_ERROR_STATUS
  return isError ? Number(status) : null
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
