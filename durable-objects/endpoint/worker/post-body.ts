import { describeExcess } from '../../../src/contract/accounts/budgets.ts'
import { announcedBytes } from '../../../src/domain/text/body-length.ts'
import { ArrivingBody } from '../../../src/effects/arriving-body.ts'
import { drainRefused, enterInFlight, inFlightUse } from '../../../src/effects/in-flight.ts'
import type { Outside, Rows } from '../parts.ts'
import { readText } from '../replies.ts'

/** A body up to this size costs less to read than to account for. */
const UNASKED_BYTES = 64 * 1024

/** A body as text, or the reason why a body of its size is never accepted. */
export type ReadBody = { kind: 'text'; text: string } | { kind: 'refused'; reason: string }

/** Result of reading the body of a post. */
export type PostBody =
  | ReadBody
  /** The post can change nothing, so its body was not read. */
  | { kind: 'unread' }
  /** The account sends too much at once; a later post may fit. */
  | { kind: 'busy'; detail: string }

/** Limit of the body of a post. */
export interface PostLimit {
  maxBytes: number
  /** Reason for a larger body. */
  tooLarge: string
}

/**
 * Reads the body of a worker's post, which can be large, once it is known to matter (WRK-48): by the state of the job and the worker, and
 * within the bytes that the endpoint's account may send at a time. A refused body is drained, so that its sender receives the reply.
 */
export async function readPost(core: Outside & Rows, request: Request, limit: PostLimit, matters: () => boolean): Promise<PostBody> {
  const announced = announcedBytes(request.headers)
  if (announced !== null && announced <= UNASKED_BYTES) return readWhole(request, limit)
  const teamId = core.state.meta.config()?.teamId ?? ''
  const refusal = matters() ? await enter(core, teamId, announced ?? 0, limit) : ({ kind: 'unread' } as const)
  if (refusal !== null) {
    await drainRefused(request.body, teamId, announced ?? limit.maxBytes, Date.now())
    return refusal
  }
  return announced === null ? readArriving(core, request, teamId, limit) : readWhole(request, limit)
}

/** A body without an announced length counts by the bytes read so far. */
async function readArriving({ env }: Outside, request: Request, teamId: string, limit: PostLimit): Promise<PostBody> {
  if (request.body === null) return readWhole(request, limit)
  const body = new ArrivingBody(request.body, { env, teamId, maxCountedBytes: limit.maxBytes, maxDrainedBytes: limit.maxBytes })
  try {
    return await readWhole(new Request(request, { body: body.stream }), limit)
  } catch (error) {
    if (body.refusal === null) throw error
    const { detail } = body.refusal
    return body.isBeyondBound ? { kind: 'refused', reason: detail } : { kind: 'busy', detail }
  }
}

async function readWhole(request: Request, limit: PostLimit): Promise<ReadBody> {
  const text = await readText(request, limit.maxBytes)
  return text === null ? { kind: 'refused', reason: limit.tooLarge } : { kind: 'text', text }
}

/** Drains the body of a post, so that its sender receives the reply. */
export function drainPost(request: Request, endpointId: string): Promise<void> {
  return drainRefused(request.body, endpointId, announcedBytes(request.headers) ?? UNASKED_BYTES, Date.now())
}

/** Counts a body against the account's limit; returns the refusal beyond it, else null. */
async function enter(core: Outside, teamId: string, bytes: number, limit: PostLimit): Promise<PostBody | null> {
  if (bytes > limit.maxBytes) return { kind: 'refused', reason: limit.tooLarge }
  const nowMs = Date.now()
  const { used, bound } = await inFlightUse(core.env, teamId, nowMs)
  if (used + bytes <= bound) {
    enterInFlight(teamId, bytes, nowMs)
    return null
  }
  const detail = describeExcess('inFlightBytes', used, bytes, bound)
  return bytes > bound ? { kind: 'refused', reason: detail } : { kind: 'busy', detail }
}
