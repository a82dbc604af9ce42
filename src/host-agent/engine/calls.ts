import { z } from 'zod'
import {
  Bridge,
  type ContainerConfig,
  ContainerFacts,
  ContainerUsage,
  type DockerEngine,
  ExecFacts,
  ImageFacts,
  ImageUse,
  ListedContainer,
  Tag,
} from './engine.ts'
import { EngineFacts } from './engine-facts.ts'
import { EngineNetwork } from './networks.ts'

/**
 * Groups of calls with a limit each. The end of a container takes as long as its tenant lets it: no start and no inspection waits for it
 * (HOST-70).
 */
export type CallQueue = 'looks' | 'starts' | 'ends'

/** Rules for one engine call through the client's process. */
export interface CallRule<Answer> {
  /** Timeout, milliseconds; null: none. */
  timeoutMs: number | null
  /** Group whose limit applies to the call; null: no limit. */
  queue: CallQueue | null
  /** Whether the call is repeated once when the client ended during it. */
  again: boolean
  /** Schema of a valid answer, because the engine may send anything. */
  answer: z.ZodType<Answer> | 'nothing' | 'bytes' | 'stream' | 'bothWays'
}

type Rules = { readonly [Name in keyof DockerEngine]: CallRule<Awaited<ReturnType<DockerEngine[Name]>>> }

/** Timeout of calls that only read. */
const CHECK_MS = 60_000
/** Timeout of calls that change something. */
const WORK_MS = 300_000
/** Timeout of a stop: longer than the longest grace period of a workload. */
const STOP_MS = 900_000

/** Sent back to the engine unchanged, so its contents are not validated. */
const Config = z.record(z.string(), z.unknown()) as unknown as z.ZodType<ContainerConfig>

/** The rules of every engine call that the agent makes; a new call gets a row here. */
export const CALL_RULES: Rules = {
  info: { timeoutMs: CHECK_MS, queue: 'looks', again: true, answer: EngineFacts },
  imageFacts: { timeoutMs: CHECK_MS, queue: 'looks', again: true, answer: ImageFacts.optional() },
  load: { timeoutMs: null, queue: null, again: true, answer: 'nothing' },
  // A repeated call would conflict with the container of the first; callers that start a container retry themselves.
  create: { timeoutMs: WORK_MS, queue: 'starts', again: false, answer: 'nothing' },
  start: { timeoutMs: WORK_MS, queue: 'starts', again: true, answer: 'nothing' },
  putFiles: { timeoutMs: WORK_MS, queue: 'starts', again: true, answer: 'nothing' },
  readFile: { timeoutMs: WORK_MS, queue: 'starts', again: true, answer: z.string().optional() },
  inspect: { timeoutMs: CHECK_MS, queue: 'looks', again: true, answer: ContainerFacts.optional() },
  wait: { timeoutMs: null, queue: null, again: false, answer: 'nothing' },
  // Waits for the grace period of its container; there are at most as many stops as containers.
  stop: { timeoutMs: STOP_MS, queue: null, again: true, answer: 'nothing' },
  remove: { timeoutMs: WORK_MS, queue: 'ends', again: true, answer: 'nothing' },
  list: { timeoutMs: CHECK_MS, queue: 'looks', again: true, answer: z.array(ListedContainer) },
  readLogs: { timeoutMs: CHECK_MS, queue: 'looks', again: true, answer: 'bytes' },
  followLogs: { timeoutMs: null, queue: null, again: false, answer: 'stream' },
  usage: { timeoutMs: CHECK_MS, queue: 'looks', again: true, answer: ContainerUsage.optional() },
  createExec: { timeoutMs: CHECK_MS, queue: 'starts', again: false, answer: z.string().max(256) },
  startExec: { timeoutMs: null, queue: null, again: false, answer: 'bothWays' },
  resizeExec: { timeoutMs: CHECK_MS, queue: 'looks', again: false, answer: 'nothing' },
  inspectExec: { timeoutMs: CHECK_MS, queue: 'looks', again: true, answer: ExecFacts.optional() },
  commit: { timeoutMs: null, queue: null, again: false, answer: 'nothing' },
  countLayers: { timeoutMs: CHECK_MS, queue: 'looks', again: true, answer: z.number().int() },
  flatten: { timeoutMs: null, queue: null, again: false, answer: Config },
  listImages: { timeoutMs: CHECK_MS, queue: 'looks', again: true, answer: z.array(z.string()) },
  listTags: { timeoutMs: CHECK_MS, queue: 'looks', again: true, answer: z.array(Tag) },
  listUses: { timeoutMs: CHECK_MS, queue: 'looks', again: true, answer: z.array(ImageUse) },
  removeImage: { timeoutMs: WORK_MS, queue: 'ends', again: true, answer: 'nothing' },
  listNetworks: { timeoutMs: CHECK_MS, queue: 'looks', again: true, answer: z.array(EngineNetwork) },
  createNetwork: { timeoutMs: WORK_MS, queue: 'starts', again: false, answer: 'nothing' },
  removeNetwork: { timeoutMs: WORK_MS, queue: 'ends', again: true, answer: z.boolean() },
  bridge: { timeoutMs: CHECK_MS, queue: 'looks', again: true, answer: Bridge },
}

export type CallName = keyof DockerEngine

/** Whether the engine client has a call of this name. */
export function isCallName(name: string): name is CallName {
  return Object.hasOwn(CALL_RULES, name)
}

/** A call as sent. An abort signal is not sent: `signalAt` is its position among the arguments, and an `abort` frame says that it fired. */
export const CallMessage = z.object({ name: z.string(), args: z.array(z.unknown()), signalAt: z.number().int().nullable() })
export type CallMessage = z.infer<typeof CallMessage>

/** Error text of a failed call, as the engine stated it, and the status of its answer if there was one. */
export const Failure = z.object({ text: z.string(), statusCode: z.number().optional() })
export type Failure = z.infer<typeof Failure>

/** Bytes of a stream that may be in transit without credit from its reader. */
export const STREAM_WINDOW_BYTES = 256 * 1024
