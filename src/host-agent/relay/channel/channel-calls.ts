import { isUtf8 } from 'node:buffer'
import { type AgentFrame, type ListenCall, MAX_POST_CHARS, type PostCall, type TakeCall } from '../../../host-protocol/worker-channel.ts'
import type { RelayRoute } from '../routes.ts'

/** A call without its number. */
export type Unnumbered<Call> = Omit<Call, 'n'>
/** A take or stop poll as a frame. */
export type PollFrame = Unnumbered<{ type: 'take' } & TakeCall> | Unnumbered<{ type: 'listen' } & ListenCall>
/** A ping of one worker within a frame of its channel. */
export type WorkerPing = Extract<AgentFrame, { type: 'pings' }>['pings'][number]

const MAX_BATCH = 1_000
const BOOT = /^[\x21-\x7e]{0,128}$/
const MAX_VERSION_CHARS = 64
const MAX_PING_JOBS = 1_024
const MAX_ID_CHARS = 256

/** The worker of a route and its boot nonce; undefined when a frame cannot hold them. */
function fromOf(route: RelayRoute, query: URLSearchParams): { worker: string; boot: string } | undefined {
  const boot = query.get('boot') ?? ''
  return BOOT.test(boot) && isId(route.worker) ? { worker: route.worker, boot } : undefined
}

/** The frame of a take or stop poll; undefined when only HTTP can carry it. */
export function pollFrameOf(route: RelayRoute): PollFrame | undefined {
  const query = queryOf(route.target)
  const from = fromOf(route, query)
  if (from === undefined) return undefined
  if (route.verb === 'job-stop') return { type: 'listen', ...from }
  const size = Number(query.get('batch_size') ?? 1)
  const batch = route.verb === 'job-take-batch'
  const max = batch && Number.isInteger(size) && size > 0 ? Math.min(size, MAX_BATCH) : 1
  return { type: 'take', ...from, max, batch, idle: query.get('job_in_progress') === '0', again: false }
}

/** The frame of a post; undefined when only HTTP can carry it, such as a large one. */
export function postFrameOf(route: RelayRoute, delivery: string, body: Buffer): Unnumbered<PostCall> | undefined {
  const from = fromOf(route, queryOf(route.target))
  if (from === undefined || !isId(route.job) || body.length > MAX_POST_CHARS || !isUtf8(body)) return undefined
  if (route.verb !== 'job-done' && route.verb !== 'job-stream') return undefined
  return { type: 'post', ...from, job: route.job, verb: route.verb, delivery, body: body.toString('utf8') }
}

/** A ping for a frame; undefined when only HTTP can carry it. */
export function pingOf(route: RelayRoute): WorkerPing | undefined {
  const query = queryOf(route.target)
  const from = fromOf(route, query)
  const jobs = (query.get('job_id') ?? '').split(',').filter((id) => id !== '')
  const sdkVersion = query.get('runpod_version')
  if (from === undefined || jobs.length > MAX_PING_JOBS || !jobs.every(isId)) return undefined
  return (sdkVersion?.length ?? 0) > MAX_VERSION_CHARS ? undefined : { ...from, jobs, sdkVersion }
}

// WRK-3: a template without a `?` appends the parameters to the path.
function queryOf(target: string): URLSearchParams {
  return new URLSearchParams(target.replace(/^[^?&]*[?&]?/, '').replaceAll('?', '&'))
}

// An encoded segment is decoded by the plane alone.
function isId(text: string): boolean {
  return text !== '' && text.length <= MAX_ID_CHARS && !text.includes('%')
}
