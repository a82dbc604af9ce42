import { sameProblems } from '../../src/domain/host/health.ts'
import { applyGpuHealth } from '../../src/effects/gpu-health.ts'
import type { Env } from '../../src/env.ts'
import type { GpuProblem } from '../../src/host-protocol/messages.ts'
import { logEvent } from '../../src/platform/log.ts'
import type { WorkloadStore } from './workload-store.ts'

const REPORTED_KEY = 'gpuHealth'
const APPLIED_KEY = 'gpuHealthApplied'

/** What the agent says about its GPUs. Noted here first, so that a beat that repeats it costs nothing and one that came at a bad time is not lost. */
export class HostGpuHealth {
  private readonly env: Env
  private readonly store: WorkloadStore

  constructor(env: Env, store: WorkloadStore) {
    this.env = env
    this.store = store
  }

  /** From a beat. What cannot be applied now is applied with the next look of the object. */
  async note(problems: readonly GpuProblem[]): Promise<void> {
    if (sameProblems(this.read(REPORTED_KEY), problems)) return
    this.store.writeMeta(REPORTED_KEY, JSON.stringify(problems))
    await this.apply().catch((error: unknown) => logEvent('warn', 'GPU health not applied', { hostId: this.store.hostId(), error }))
  }

  /** Brings what was noted to the database, if it is not there. */
  async apply(): Promise<void> {
    const hostId = this.store.hostId()
    const reported = this.read(REPORTED_KEY)
    if (hostId === null || sameProblems(this.read(APPLIED_KEY), reported)) return
    await applyGpuHealth(this.env, hostId, reported)
    this.store.writeMeta(APPLIED_KEY, JSON.stringify(reported))
  }

  private read(key: string): GpuProblem[] {
    return JSON.parse(this.store.readMeta(key) ?? '[]') as GpuProblem[]
  }
}
