import { z } from 'zod'
import type { ContainerConfig, DockerEngine } from '../docker/engine/engine.ts'
import { EngineFacts } from '../profile/engine-facts.ts'

/**
 * Calls that are bounded together. How long the end of a container takes is up to its tenant: nobody's start waits for that, and no look (HOST-70).
 */
export type CallQueue = 'looks' | 'starts' | 'ends'

/** How a call to the engine is made through its client's process. */
export interface CallRule<Answer> {
  /** Until then there is an answer; null: it takes as long as it takes, and counts as long. */
  timeoutMs: number | null
  /** Beside which calls it is one of so many at a time; null: it waits for no other. */
  queue: CallQueue | null
  /** Whether it is made once more when the client has ended meanwhile. */
  again: boolean
  /** What a good answer looks like; the engine may say anything. */
  answer: z.ZodType<Answer> | 'nothing' | 'bytes' | 'stream' | 'bothWays'
}

type Rules = { readonly [Name in keyof DockerEngine]: CallRule<Awaited<ReturnType<DockerEngine[Name]>>> }

/** For what the engine only has to look up. */
const LOOK_MS = 60_000
/** For what has it work. */
const WORK_MS = 300_000
/** The most grace that a workload gets, and some more. */
const STOP_MS = 900_000

const Time = z.number().nullable()
const Texts = z.array(z.string())

const ContainerFacts = z.object({
  name: z.string(),
  labels: z.record(z.string(), z.string()),
  status: z.string(),
  exitCode: z.number().int().nullable(),
  outOfMemory: z.boolean(),
  startedAtMs: Time,
  endedAtMs: Time,
  addresses: Texts,
  anonymousVolumes: z.array(z.object({ name: z.string(), path: z.string() })),
  pid: z.number().int().nullable(),
  hostsPath: z.string().nullable(),
})
const ListedContainer = z.object({ name: z.string(), labels: z.record(z.string(), z.string()), status: z.string(), networks: Texts })
const ImageFacts = z.object({ id: z.string(), names: Texts, layers: Texts })
const EngineNetwork = z.object({ name: z.string(), labels: z.record(z.string(), z.string()), subnets: Texts })
const Total = z.number().optional()
const Traffic = z.object({ received: Total, sent: Total, read: Total, written: Total })
const ContainerUsage = z.object({
  cpuNanos: z.number(),
  throttledNanos: Total,
  memoryBytes: z.number(),
  memoryLimitBytes: z.number(),
  traffic: Traffic.optional(),
})
const ExecFacts = z.object({ running: z.boolean(), exitCode: z.number().int().nullable() })
/** Goes back to the engine as it came, so nothing of it is read here and its type is the engine's word. */
const Config = z.record(z.string(), z.unknown()) as unknown as z.ZodType<ContainerConfig>
const Bridge = z.object({ gateway: z.string().optional(), subnet: z.string().optional() })

/** Every call that the agent makes of its engine. A new one gets its row here. */
export const CALL_RULES: Rules = {
  info: { timeoutMs: LOOK_MS, queue: 'looks', again: true, answer: EngineFacts },
  imageFacts: { timeoutMs: LOOK_MS, queue: 'looks', again: true, answer: ImageFacts.optional() },
  load: { timeoutMs: null, queue: null, again: true, answer: 'nothing' },
  // What was created by the first of two would be in the way of the second; whoever starts a container tries again himself.
  create: { timeoutMs: WORK_MS, queue: 'starts', again: false, answer: 'nothing' },
  start: { timeoutMs: WORK_MS, queue: 'starts', again: true, answer: 'nothing' },
  putFiles: { timeoutMs: WORK_MS, queue: 'starts', again: true, answer: 'nothing' },
  readFile: { timeoutMs: WORK_MS, queue: 'starts', again: true, answer: z.string().optional() },
  inspect: { timeoutMs: LOOK_MS, queue: 'looks', again: true, answer: ContainerFacts.optional() },
  wait: { timeoutMs: null, queue: null, again: false, answer: 'nothing' },
  // Waits for the grace of its container; as many as there are containers.
  stop: { timeoutMs: STOP_MS, queue: null, again: true, answer: 'nothing' },
  remove: { timeoutMs: WORK_MS, queue: 'ends', again: true, answer: 'nothing' },
  list: { timeoutMs: LOOK_MS, queue: 'looks', again: true, answer: z.array(ListedContainer) },
  readLogs: { timeoutMs: LOOK_MS, queue: 'looks', again: true, answer: 'bytes' },
  followLogs: { timeoutMs: null, queue: null, again: false, answer: 'stream' },
  usage: { timeoutMs: LOOK_MS, queue: 'looks', again: true, answer: ContainerUsage.optional() },
  createExec: { timeoutMs: LOOK_MS, queue: 'starts', again: false, answer: z.string().max(256) },
  startExec: { timeoutMs: null, queue: null, again: false, answer: 'bothWays' },
  resizeExec: { timeoutMs: LOOK_MS, queue: 'looks', again: false, answer: 'nothing' },
  inspectExec: { timeoutMs: LOOK_MS, queue: 'looks', again: true, answer: ExecFacts.optional() },
  commit: { timeoutMs: null, queue: null, again: false, answer: 'nothing' },
  countLayers: { timeoutMs: LOOK_MS, queue: 'looks', again: true, answer: z.number().int() },
  flatten: { timeoutMs: null, queue: null, again: false, answer: Config },
  listImages: { timeoutMs: LOOK_MS, queue: 'looks', again: true, answer: Texts },
  listTags: { timeoutMs: LOOK_MS, queue: 'looks', again: true, answer: z.array(z.object({ name: z.string(), bytes: z.number() })) },
  listUses: {
    timeoutMs: LOOK_MS,
    queue: 'looks',
    again: true,
    answer: z.array(z.object({ image: z.string(), labels: z.record(z.string(), z.string()) })),
  },
  removeImage: { timeoutMs: WORK_MS, queue: 'ends', again: true, answer: 'nothing' },
  listNetworks: { timeoutMs: LOOK_MS, queue: 'looks', again: true, answer: z.array(EngineNetwork) },
  createNetwork: { timeoutMs: WORK_MS, queue: 'starts', again: false, answer: 'nothing' },
  removeNetwork: { timeoutMs: WORK_MS, queue: 'ends', again: true, answer: z.boolean() },
  bridge: { timeoutMs: LOOK_MS, queue: 'looks', again: true, answer: Bridge as z.ZodType<Awaited<ReturnType<DockerEngine['bridge']>>> },
}

export type CallName = keyof DockerEngine

export function isCallName(name: string): name is CallName {
  return Object.hasOwn(CALL_RULES, name)
}

/** A call as it is sent. A signal stays on its side: its place is named, and `abort` says that it fired. */
export const CallMessage = z.object({ name: z.string(), args: z.array(z.unknown()), signalAt: z.number().int().nullable() })
export type CallMessage = z.infer<typeof CallMessage>

/** Why a call failed, in the engine's words, and the status of its answer if there was one. */
export const Failure = z.object({ text: z.string(), statusCode: z.number().optional() })
export type Failure = z.infer<typeof Failure>

/** Bytes of a stream that may be under way before its reader has asked for more. */
export const STREAM_WINDOW_BYTES = 256 * 1024
