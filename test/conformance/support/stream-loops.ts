import { realTime } from '../../support/time.ts'
import type { PlayedEndpoint, StreamView } from './endpoint.ts'

/**
 * The way in which each of the known clients reads the stream of a job. They differ in the condition that ends them; each must end and
 * must not miss a chunk.
 */
export type StreamLoop = (endpoint: PlayedEndpoint, job: string) => AsyncGenerator<unknown>

const FINAL = ['COMPLETED', 'FAILED', 'CANCELLED', 'TIMED_OUT']
/** The states that end the Python client; `CANCELLED` is not one of them. */
const PYTHON_FINAL = ['COMPLETED', 'FAILED', 'TIMED_OUT']
const PYTHON_PAUSE_MS = 1_000
const GO_WAIT_MS = 90_000
const GO_SLACK_MS = 2_000

/** The JavaScript client: polls without a pause, and ends with the first terminal status, after reading that reply. */
async function* javascript(endpoint: PlayedEndpoint, job: string): AsyncGenerator<unknown> {
  for (let completed = false; !completed; ) {
    const reply = await poll(endpoint, 'GET', job)
    completed = FINAL.includes(reply.status)
    for (const chunk of reply.stream) yield chunk.output
  }
}

/** The Python client: a pause before every poll; ends with a final status whose reply is empty. */
async function* python(endpoint: PlayedEndpoint, job: string): AsyncGenerator<unknown> {
  for (;;) {
    await realTime(PYTHON_PAUSE_MS, 'the pause of the client itself')
    const reply = await poll(endpoint, 'GET', job)
    if (PYTHON_FINAL.includes(reply.status) && reply.stream.length === 0) return
    for (const chunk of reply.stream) yield chunk.output
  }
}

/**
 * The official Go client: POST with a wait of 90 s, aborted two seconds after it. Successive replies are decoded into one structure, so an
 * omitted key keeps its old value. Ends with the first terminal status or the first `error`, after reading that reply.
 */
async function* go(endpoint: PlayedEndpoint, job: string): AsyncGenerator<unknown> {
  let state: Partial<StreamView> = {}
  do {
    const signal = AbortSignal.timeout(GO_WAIT_MS + GO_SLACK_MS)
    state = { ...state, ...(await poll(endpoint, 'POST', job, `?wait=${GO_WAIT_MS}`, signal)) }
    for (const chunk of state.stream ?? []) yield chunk.output
  } while (state.error === undefined && !FINAL.includes(state.status ?? ''))
}

async function poll(endpoint: PlayedEndpoint, method: string, job: string, query = '', signal?: AbortSignal): Promise<StreamView> {
  const reply = await endpoint.call<StreamView>(method, `stream/${job}${query}`, signal === undefined ? {} : { signal })
  if (reply.status !== 200) throw new Error(`stream answered ${reply.status}: ${reply.text}`)
  return reply.body
}

export const STREAM_LOOPS: Record<string, StreamLoop> = { JS: javascript, PY: python, GO1: go }

/** Everything that a loop yields until it ends. */
export async function readToEnd(chunks: AsyncGenerator<unknown>): Promise<unknown[]> {
  const read: unknown[] = []
  for await (const chunk of chunks) read.push(chunk)
  return read
}
