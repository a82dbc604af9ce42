import { request } from 'node:http'
import type { Workload, WorkloadHealth } from '../../host-protocol/messages.ts'
import type { Place } from '../runtime.ts'

const TICK_MS = 250
const CHECK_TIMEOUT_MS = 5_000
/**
 * Intervals of the checks: EAGER_MS for the first EAGER_CHECKS, as a client may wait for the worker; then STARTING_MS until it is healthy.
 */
const EAGER_MS = 500
const EAGER_CHECKS = 60
const STARTING_MS = 2_000
const HEALTHY_MS = 5_000
/** Consecutive failed checks after which a healthy worker counts as failing. */
const MAX_FAILURES = 3
/** Minimum interval between notifications of the same health with another reason. */
const SAY_AGAIN_MS = 5_000

/** Outcome of the checks of one worker. */
export interface HealthVerdict {
  health: WorkloadHealth
  /** The reason why it is not healthy. */
  reason: string | null
}

/** A worker whose health is checked. */
export interface Served {
  id: string
  health: NonNullable<Workload['health']>
  /** The health reported last, perhaps by a previous agent process. */
  known: WorkloadHealth | undefined
}

export interface HealthChecksDeps {
  /** Returns the running workloads that have health checks. */
  served(): readonly Served[]
  place(workloadId: string, port: number): Promise<Place | undefined>
  /** Returns the number of the plane's requests in progress to a workload. */
  streamsOf(workloadId: string): number
  notify(workloadId: string, verdict: HealthVerdict): void
}

interface Asked extends HealthVerdict {
  checks: number
  failures: number
  dueAtMs: number
  notifiedAtMs: number
  isAsking: boolean
}

/** Returns the health for the status of a `GET` of the health path (END-10): 200 is healthy, 204 initialising, anything else failing. */
export function judgeAnswer(status: number): WorkloadHealth {
  if (status === 200) return 'healthy'
  return status === 204 ? 'initialising' : 'failing'
}

/** Checks the health of workers that serve requests, and notifies about changes. */
export class HealthChecks {
  private readonly deps: HealthChecksDeps
  private readonly asked = new Map<string, Asked>()
  private readonly timer: NodeJS.Timeout

  constructor(deps: HealthChecksDeps) {
    this.deps = deps
    this.timer = setInterval(() => this.tick(), TICK_MS)
  }

  close(): void {
    clearInterval(this.timer)
  }

  private tick(): void {
    const served = this.deps.served()
    const ids = new Set(served.map(({ id }) => id))
    for (const id of this.asked.keys()) if (!ids.has(id)) this.asked.delete(id)
    const nowMs = performance.now()
    for (const one of served) {
      const asked = this.askedOf(one)
      if (!asked.isAsking && asked.dueAtMs <= nowMs) void this.ask(one, asked)
    }
  }

  private askedOf({ id, known }: Served): Asked {
    const previous = this.asked.get(id)
    if (previous !== undefined) return previous
    const fresh = {
      health: known ?? ('initialising' as const),
      reason: null,
      checks: 0,
      failures: 0,
      dueAtMs: 0,
      notifiedAtMs: 0,
      isAsking: false,
    }
    this.asked.set(id, fresh)
    return fresh
  }

  private async ask({ id, health, known }: Served, asked: Asked): Promise<void> {
    asked.isAsking = true
    const answer = await this.answerOf(id, health)
    asked.isAsking = false
    asked.checks += 1
    const verdict = this.judge(id, asked, answer)
    const isHealthy = verdict.health === 'healthy'
    const nowMs = performance.now()
    asked.dueAtMs = nowMs + (isHealthy ? HEALTHY_MS : asked.checks < EAGER_CHECKS ? EAGER_MS : STARTING_MS)
    const isNew = verdict.health !== asked.health || (verdict.health !== known && known === undefined && isHealthy)
    const isOtherReason = verdict.reason !== asked.reason && nowMs - asked.notifiedAtMs > SAY_AGAIN_MS
    if (!isNew && !isOtherReason) return
    Object.assign(asked, verdict, { notifiedAtMs: nowMs })
    this.deps.notify(id, verdict)
  }

  // A failed check does not count while the worker has requests in progress: one that handles one request at a time cannot answer it
  // (LB-8).
  private judge(id: string, asked: Asked, { health, reason }: HealthVerdict): HealthVerdict {
    const { health: previous } = asked
    if (health !== 'failing') asked.failures = 0
    else if (this.deps.streamsOf(id) === 0) asked.failures += 1
    if (health !== 'failing') return { health, reason }
    if (previous === 'healthy') return asked.failures >= MAX_FAILURES ? { health, reason } : { health: previous, reason: asked.reason }
    return { health: previous, reason }
  }

  private async answerOf(id: string, { port, path }: Served['health']): Promise<HealthVerdict> {
    const place = await this.deps.place(id, port).catch(() => undefined)
    const describe = (text: string) => `GET ${path} on port ${port}: ${text}`
    if (place === undefined) return { health: 'failing', reason: describe('its address is not known') }
    const status = await statusOf(place, path)
    if (typeof status === 'string') return { health: 'failing', reason: describe(status) }
    const health = judgeAnswer(status)
    return { health, reason: health === 'healthy' ? null : describe(`answered ${status}`) }
  }
}

function statusOf(place: Place, path: string): Promise<number | string> {
  return new Promise((resolve) => {
    const asking = request({ ...place, path, method: 'GET', agent: false, timeout: CHECK_TIMEOUT_MS, headers: { host: 'localhost' } })
    asking.on('response', (response) => {
      resolve(response.statusCode ?? 0)
      response.destroy()
    })
    asking.on('timeout', () => {
      resolve(`no answer within ${CHECK_TIMEOUT_MS / 1000} s`)
      asking.destroy()
    })
    asking.on('error', (error: Error & { code?: string }) => {
      resolve(error.code === 'ECONNREFUSED' ? 'nothing listens there' : (error.code ?? 'its answer is no HTTP'))
    })
    asking.end()
  })
}
