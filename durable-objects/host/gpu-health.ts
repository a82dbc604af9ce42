import { sameProblems } from '../../src/domain/host/health.ts'
import { applyGpuHealth } from '../../src/effects/gpu-health.ts'
import type { Env } from '../../src/env.ts'
import type { GpuProblem } from '../../src/host-protocol/messages.ts'
import { logEvent } from '../../src/platform/log.ts'
import type { WorkloadStore } from './workload-store.ts'

const REPORTED_KEY = 'gpuHealth'
const APPLIED_KEY = 'gpuHealthApplied'

/**
 * GPU problems that the agent reports. Stored here first, so that a repeating beat costs nothing and a report during a D1 failure is not
 * lost.
 */
export class HostGpuHealth {
  private readonly env: Env
  private readonly store: WorkloadStore

  constructor(env: Env, store: WorkloadStore) {
    this.env = env
    this.store = store
  }

  /** Stores the problems of a beat. If they cannot be applied, the next timer of the object retries. */
  async note(problems: readonly GpuProblem[]): Promise<void> {
    if (sameProblems(this.read(REPORTED_KEY), problems)) return
    this.store.writeMeta(REPORTED_KEY, JSON.stringify(problems))
    await this.apply().catch((error: unknown) => logEvent('warn', 'GPU health not applied', { hostId: this.store.hostId(), error }))
  }

  /** Applies the stored problems to D1, unless they are applied already. */
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
