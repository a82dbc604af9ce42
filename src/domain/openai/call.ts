import { MAX_JSON_DEPTH, MAX_JSON_MEMBERS } from '../text/json-scan.ts'
import { type JsonObjectText, jsonElements, readJson, tryParse } from '../text/json-text.ts'

/** Upper bound of the pieces that one JSON text is joined from. */
const MAX_PIECES = 10_000

/** A call of `/openai/*` as a job. `input` is JSON text. */
export interface OpenaiCall {
  input: string
  /** OAI-5: the client asks for server-sent events. */
  stream: boolean
}

/** A call of the OpenAI API as the input of a job, or why it is refused. */
export type OpenaiCallResult = { ok: true; call: OpenaiCall } | { ok: false; detail: string }

/**
 * OAI-1, OAI-2: the input of the job that answers a call. `route` is everything after `/openai`, the query included; the body goes into it
 * unchanged. Workers take a missing `openai_input` to mean GET and a present one to mean POST; any other method is named in `openai_method`
 * (OAI-10).
 */
export function readOpenaiCall(method: string, route: string, body: string): OpenaiCallResult {
  const hasBody = method !== 'GET' && body.trim() !== ''
  const verb = method === (hasBody ? 'POST' : 'GET') ? '' : `,"openai_method":${JSON.stringify(method)}`
  const head = `{"openai_route":${JSON.stringify(route)}${verb}`
  if (!hasBody) return { ok: true, call: { input: `${head}}`, stream: false } }
  const members: JsonObjectText = new Map()
  const shape = readJson(body, ['stream'], members, MAX_JSON_MEMBERS)
  if (!shape) return refuse(`$: the body is not JSON of at most ${MAX_JSON_DEPTH} levels, and nothing else can be forwarded to a worker`)
  if (shape.kind !== 'object') return refuse('$: want a JSON object')
  if (shape.count > MAX_JSON_MEMBERS) return refuse(`$: more than ${MAX_JSON_MEMBERS} members`)
  return { ok: true, call: { input: `${head},"openai_input":${body.trim()}}`, stream: members.get('stream') === 'true' } }
}

/**
 * OAI-4: the JSON text of the response, from the JSON text of a job's output. A list of one element is that element; a list of strings is
 * one JSON text cut into pieces; a string that contains JSON is that JSON. Any other output stays as it is.
 */
export function unwrapOutput(output: string): string {
  const elements = jsonElements(output, MAX_PIECES)
  if (!elements) return unquoteJson(output)
  if (elements.length === 1) return unquoteJson(elements[0] ?? 'null')
  if (elements.length === 0 || !elements.every((element) => element.startsWith('"'))) return output
  const joined = elements.map((element) => JSON.parse(element) as string).join('')
  return isJsonContainer(joined) ? joined : output
}

function refuse(detail: string): OpenaiCallResult {
  return { ok: false, detail }
}

function unquoteJson(text: string): string {
  const value = text.startsWith('"') ? (JSON.parse(text) as string) : ''
  return isJsonContainer(value) ? value : text
}

// Only an object or an array counts: a string such as "42" is meant as a string.
function isJsonContainer(text: string): boolean {
  const value = tryParse(text)
  return typeof value === 'object' && value !== null
}
