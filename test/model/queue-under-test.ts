import type { Boot } from './facts.ts'

export interface SubmitOptions {
  low: boolean
  /** `/runsync` instead of `/run`: another retention. */
  sync: boolean
  ttlMs: number
  executionMs: number
}

export interface PostBody {
  output?: unknown
  error?: string
  stopPod?: true
}

/** The queue's view of a worker's boot. `accepting`: it may get work. */
export interface BootView {
  boot: Boot
  phase: 'accepting' | 'draining' | 'failed' | 'removed'
  reason: string
}

export interface Reply {
  status: number
  body: Record<string, unknown>
}

/**
 * A queue as its clients, its workers and its clock see it. It has two implementations: the pure rules of `src/domain` in memory, and the
 * real object in workerd. When a call returns, all its effects are done.
 */
export interface QueueUnderTest {
  /** Whether workers come and go with the load: then any worker without a job may be sent away. */
  readonly scales: boolean
  now(): number
  /** Moves the clock, and wakes the queue if its alarm is due by then. */
  moveTo(atMs: number): Promise<void>
  /** The due time of the queue's alarm. */
  alarmAtMs(): Promise<number | null>
  /** The queue's process ends, starts again and serves a request; open connections break. */
  restart(): Promise<void>

  submit(options: SubmitOptions): Promise<string>
  cancel(job: string): Promise<Reply>
  retry(job: string): Promise<Reply>
  /** Returns how many were removed. */
  purge(): Promise<number>
  record(job: string): Promise<Reply>
  counts(): Promise<Record<string, number>>

  /** Boots of workers that have started since the last call and may be played. */
  newBoots(): Promise<Boot[]>
  boots(): Promise<BootView[]>
  /** Opens a take; its jobs come with `deliveries`. A second take of a boot displaces the first. */
  take(boot: Boot, capacity: number, idle: boolean): Promise<void>
  /** Takes that were answered since the last call: with jobs or, when the worker is not to get any, with none. */
  deliveries(): Promise<{ boot: Boot; jobs: string[] }[]>
  ping(boot: Boot, listed: readonly string[]): Promise<void>
  done(boot: Boot, job: string, body: PostBody): Promise<void>
  progress(boot: Boot, job: string, output: unknown): Promise<void>
  chunk(boot: Boot, job: string): Promise<void>
  /** The host reports that the boot's container ended, by itself or `byHost`. */
  crash(boot: Boot, byHost: boolean): Promise<void>
  /** The boot's machine is silent since then. */
  hostSilent(boot: Boot, sinceMs: number): Promise<void>
  /** The boot's machine reports again. */
  hostHeard(boot: Boot): Promise<void>
}
