import { z } from 'zod'

/**
 * The worker channel: one WebSocket from an agent to each endpoint object that has workers on its host, over which the agent's relay
 * forwards the calls of these workers. The workers themselves speak HTTP to the relay. Changed only by addition, like `messages.ts`.
 *
 * The agent is the truth about what waits: the object stores nothing of it. After it was out of memory it sends `sync`, and the agent
 * repeats its open calls in `hello`.
 */

/** Path of a channel below the plane's URL. */
export const channelPath = (endpointId: string) => `/host/v1/endpoints/${encodeURIComponent(endpointId)}/channel`

/** Headers of the request that opens a channel: a worker of the endpoint on this host, and its key (WRK-2). */
export const CHANNEL_WORKER_HEADER = 'podplane-worker'
export const CHANNEL_KEY_HEADER = 'podplane-worker-key'

/** The texts of a keep-alive and its answer, which the runtime gives without waking the object. */
export const KEEP_ALIVE = 'ping'
export const KEEP_ALIVE_ANSWER = 'pong'

/** Largest body of a post in a frame, UTF-16 code units. Larger bodies are posted over HTTP. */
export const MAX_POST_CHARS = 64 * 1024
/** Largest text in a frame of the plane; a longer answer comes in several. */
export const MAX_PART_CHARS = 256 * 1024
/** Largest frame of an agent, UTF-16 code units: a hello of a thousand workers, or a post whose body is all escapes. */
export const MAX_FRAME_CHARS = 512 * 1024
/** Most workers in a frame. */
export const MAX_WORKERS = 1_024

/** Status of a call that the object cannot decide by the host alone; the relay repeats it over HTTP with the worker's own key. */
export const USE_HTTP = 421

const Id = z.string().min(1).max(256)
/** Numbers the calls of one connection. Two calls that are open have two numbers. */
const CallNumber = z.int().min(0)
const From = {
  worker: Id,
  boot: z.string().regex(/^[\x21-\x7e]{0,128}$/),
}

const Take = z.object({
  n: CallNumber,
  ...From,
  /** The most jobs of an answer, and whether it is an array (WRK-11). */
  max: z.int().min(1).max(1_000),
  batch: z.boolean(),
  /** The worker reports that it holds no job (LSE-3). */
  idle: z.boolean(),
  /** The answer of an earlier connection may be lost (LSE-30). */
  again: z.boolean(),
})
const Listen = z.object({ n: CallNumber, ...From })

export type TakeCall = z.infer<typeof Take>
/** A stop poll. */
export type ListenCall = z.infer<typeof Listen>

const Post = z.object({
  type: z.literal('post'),
  n: CallNumber,
  ...From,
  job: Id,
  verb: z.enum(['job-done', 'job-stream']),
  /** Number of the post (HOST-22), as in the header of a post over HTTP. */
  delivery: z.string().max(128),
  body: z.string().max(MAX_POST_CHARS),
})
export type PostCall = z.infer<typeof Post>

const WorkerPing = z.object({
  ...From,
  /** Jobs that the worker reports as held. */
  jobs: z.array(Id).max(1_024),
  sdkVersion: z.string().max(64).nullable(),
  /**
   * The agent answers for the worker from now on (CHN-30): it says when the worker is quiet, and does not send pings that are the same again
   * and again. Only to a plane that said `welcome`.
   */
  stands: z.boolean().optional(),
})

/** A frame of the agent. */
export const AgentFrame = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('hello'),
    takes: z.array(Take).max(MAX_WORKERS),
    listens: z.array(Listen).max(MAX_WORKERS),
    /** Workers for whose pings the agent still answers. */
    standing: z.array(z.object(From)).max(MAX_WORKERS).optional(),
  }),
  z.object({ type: z.literal('take'), ...Take.shape }),
  z.object({ type: z.literal('listen'), ...Listen.shape }),
  /** The worker of a take or stop poll has gone, or has waited long enough. The object answers it with `nothing`, even if it has answered the call. `worker`: that of a take. */
  z.object({ type: z.literal('leave'), n: CallNumber, worker: Id.optional() }),
  Post,
  z.object({ type: z.literal('pings'), pings: z.array(WorkerPing).max(MAX_WORKERS) }),
  /** Workers for which the agent answers no more, because they have sent no ping for so many milliseconds. Sent once. */
  z.object({ type: z.literal('quiet'), workers: z.array(z.object({ ...From, silentMs: z.int().min(0) })).max(MAX_WORKERS) }),
])
export type AgentFrame = z.infer<typeof AgentFrame>

/** A frame of the plane; `n` is the number of the call that it answers. */
export const PlaneFrame = z.discriminatedUnion('type', [
  z.object({ type: z.literal('sync') }),
  /** First frame of a plane that takes standing pings (CHN-30), with the interval of pings. */
  z.object({ type: z.literal('welcome'), pingIntervalMs: z.int().positive() }),
  /** The agent sends each ping of these workers again, until they are the same again and again. */
  z.object({ type: z.literal('recall'), workers: z.array(Id) }),
  /** Part of a long answer; `job` with the same number ends it. */
  z.object({ type: z.literal('part'), n: CallNumber, text: z.string() }),
  /** The jobs of a take, JSON text as in the answer over HTTP. */
  z.object({ type: z.literal('job'), n: CallNumber, text: z.string() }),
  z.object({ type: z.literal('stop'), n: CallNumber, jobs: z.array(Id) }),
  /** End of a take or stop poll without a job: 204, after `afterMs`; or 429 or `USE_HTTP`, with the reason. */
  z.object({
    type: z.literal('nothing'),
    n: CallNumber,
    status: z.int().optional(),
    detail: z.string().optional(),
    afterMs: z.int().min(0).optional(),
  }),
  /** A post is stored (200), or refused with a status as over HTTP. */
  z.object({ type: z.literal('ack'), n: CallNumber, status: z.int().min(200).max(599) }),
])
export type PlaneFrame = z.infer<typeof PlaneFrame>

/** Parses a frame; null when it is none. */
export function readFrame<Frame>(schema: z.ZodType<Frame>, data: unknown): Frame | null {
  if (typeof data !== 'string' || data.length > MAX_FRAME_CHARS) return null
  try {
    return schema.safeParse(JSON.parse(data)).data ?? null
  } catch {
    return null
  }
}
