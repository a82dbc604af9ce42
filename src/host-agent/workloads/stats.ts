import type { MachineStats, WorkloadStats } from '../../host-protocol/stats.ts'
import { within } from '../../node/backoff.ts'
import { errorText } from '../../node/fail.ts'
import type { GpuUse } from '../gpus/vendor.ts'
import { inParallel } from '../in-parallel.ts'
import type { Log } from '../log.ts'
import type { Traffic, Usage } from '../runtime.ts'

/** Interval of the readings. */
export const STATS_INTERVAL_MS = 5_000
/** Concurrent readings: the engine is slow when it has to answer for all workloads at once. */
const CONCURRENCY = 4
/** Timeout of a reading: the engine's client never settles a call whose answer was cut off. */
const READ_WITHIN_MS = 15_000
/** The maximum that a beat may contain. */
const STATS_MAX = 1_024
const GPUS_MAX = 64
/** Older readings are not reported. */
const STALE_MS = 20_000

/** A running workload, and the CPUs that it may use. */
export interface Measured {
  id: string
  vcpus: number
  read(): Promise<Usage | undefined>
}

export interface StatsDeps {
  running(): Measured[]
  readGpus(): Promise<ReadonlyMap<string, GpuUse>>
  /** Returns the use of the machine, except its GPUs. */
  readMachine?: () => MachineStats
  /** Whether the machine has GPUs; they are then read even if no workload has one. */
  machineHasGpus?: boolean
  log: Log
  /** Monotonic, milliseconds. */
  now(): number
  readWithinMs?: number
}

interface Reading {
  usage: Usage
  atMs: number
}

/** Reads the use of workloads and of the machine independently of the beats: a beat takes the last reading and never waits (HOST-63). */
export class StatsCollector {
  private readonly deps: StatsDeps
  private previous = new Map<string, Reading>()
  private stats: WorkloadStats[] = []
  private machine: MachineStats | undefined
  private collectedAtMs = Number.NEGATIVE_INFINITY
  private collecting = false

  constructor(deps: StatsDeps) {
    this.deps = deps
  }

  /** Returns the last readings of workloads unless they are older than `STALE_MS`. */
  latest(): WorkloadStats[] {
    return this.isStale() ? [] : this.stats
  }

  /** Returns the same in the form of a beat, with the machine's use. */
  forBeat(): { stats: WorkloadStats[]; machine?: MachineStats } {
    return { stats: this.latest(), ...(this.machine !== undefined && !this.isStale() && { machine: this.machine }) }
  }

  /** Reads everything once; does nothing while an earlier call is still reading. */
  async collect(): Promise<void> {
    if (this.collecting) return
    this.collecting = true
    try {
      await this.readAll()
    } catch (error) {
      this.deps.log.debug('could not read what workloads use', { error: errorText(error) })
    } finally {
      this.collecting = false
    }
  }

  private async readAll(): Promise<void> {
    const running = this.deps.running().slice(0, STATS_MAX)
    const readings = new Map<string, Reading>()
    await inParallel(running, CONCURRENCY, async ({ id, read }) => {
      const usage = await this.readOnce(read)
      if (usage !== undefined) readings.set(id, { usage, atMs: this.deps.now() })
    })
    const { machineHasGpus = false, readMachine } = this.deps
    const hasGpus = machineHasGpus || [...readings.values()].some(({ usage }) => usage.gpuIds.length > 0)
    // A GPU driver that does not answer must not prevent the other readings.
    const gpus = hasGpus ? await this.deps.readGpus().catch(() => new Map<string, GpuUse>()) : new Map<string, GpuUse>()
    this.machine = readMachine && { ...readMachine(), ...(machineHasGpus && { gpus: [...gpus.values()].slice(0, GPUS_MAX) }) }
    this.stats = running.flatMap(({ id, vcpus }) => {
      const reading = readings.get(id)
      return reading === undefined ? [] : [statsOf(id, vcpus, this.previous.get(id), reading, gpus)]
    })
    this.previous = readings
    this.collectedAtMs = this.deps.now()
  }

  private isStale(): boolean {
    return this.deps.now() - this.collectedAtMs > STALE_MS
  }

  private readOnce(read: Measured['read']): Promise<Usage | undefined> {
    return within(
      this.deps.readWithinMs ?? READ_WITHIN_MS,
      read().catch(() => undefined),
    )
  }
}

/**
 * Returns the use of a workload in percent of its resources. CPU and traffic are known from the second reading on; GPUs only where they are
 * real.
 */
export function statsOf(
  id: string,
  vcpus: number,
  previous: Reading | undefined,
  { usage, atMs }: Reading,
  gpus: ReadonlyMap<string, GpuUse>,
): WorkloadStats {
  const elapsedNanos = previous === undefined ? 0 : (atMs - previous.atMs) * 1e6
  const usedNanos = usage.cpuNanos - (previous?.usage.cpuNanos ?? 0)
  const found = usage.gpuIds.flatMap((uuid) => gpus.get(uuid) ?? [])
  return {
    id,
    ...(elapsedNanos > 0 && vcpus > 0 ? { cpu: percent(usedNanos / elapsedNanos / vcpus) } : {}),
    ...waitingOf(previous?.usage.cpuWaitNanos, usage.cpuWaitNanos, elapsedNanos),
    ...(usage.memoryLimitBytes > 0 ? { memory: percent(usage.memoryBytes / usage.memoryLimitBytes) } : {}),
    memoryBytes: usage.memoryBytes,
    ...(usage.memoryLimitBytes > 0 ? { memoryLimitBytes: usage.memoryLimitBytes } : {}),
    ...ratesOf(previous?.usage.traffic, usage.traffic, elapsedNanos / 1e9),
    ...(found.length > 0 ? { gpus: found.map(({ index: _index, ...use }) => use).slice(0, GPUS_MAX) } : {}),
    ...(usage.gpuIds.length > 0 ? { gpuCount: usage.gpuIds.length } : {}),
  }
}

/**
 * Returns the share of the time between two readings in which the workload was ready to run but waited for a CPU; nothing where the counter
 * decreased because threads have ended.
 */
function waitingOf(previous: number | undefined, current: number | undefined, elapsedNanos: number): Pick<WorkloadStats, 'cpuWaiting'> {
  if (previous === undefined || current === undefined || current < previous || elapsedNanos <= 0) return {}
  return { cpuWaiting: percent((current - previous) / elapsedNanos) }
}

/** Returns bytes per second between two readings; nothing where a counter is missing in one of them or was reset. */
export function ratesOf(previous: Traffic | undefined, current: Traffic | undefined, seconds: number): Partial<Rates> {
  const rate = (name: keyof Traffic) => {
    const [before, now] = [previous?.[name], current?.[name]]
    return before === undefined || now === undefined || now < before || seconds <= 0 ? undefined : Math.round((now - before) / seconds)
  }
  const rates = {
    receivedPerSecond: rate('received'),
    sentPerSecond: rate('sent'),
    readPerSecond: rate('read'),
    writtenPerSecond: rate('written'),
  }
  return Object.fromEntries(Object.entries(rates).filter(([, value]) => value !== undefined))
}

type Rates = Record<'receivedPerSecond' | 'sentPerSecond' | 'readPerSecond' | 'writtenPerSecond', number>

function percent(share: number): number {
  return Math.min(100, Math.max(0, Math.round(100 * share)))
}
