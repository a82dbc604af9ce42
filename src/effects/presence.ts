import { endWorkerChargesOn } from '../db/billing/charges.ts'
import { openDatabase } from '../db/client.ts'
import { listWorkersOn } from '../db/hosts/host-cordon.ts'
import type { HostEvent } from '../domain/host/event.ts'
import { type Env, readSettings } from '../env.ts'
import { asPlane } from '../objects/ownership/as-plane.ts'
import { endpointStub } from '../objects/stubs.ts'
import { settleAtOnce } from '../platform/at-once.ts'
import { logEvent } from '../platform/log.ts'
import { announceCapacity } from './capacity.ts'

// Effects of a host's presence on its workloads. The host's object calls these and repeats a call that threw, so each is idempotent.
// `sinceMs` is the last heartbeat, on the plane's clock.

/**
 * Handles missing heartbeats (HOST-36). `silent`: jobs leased to the host's workers are not leased again before the host itself has stopped
 * those workers. `offline`, the end of the host's lease: workers that have not started are placed elsewhere; the others have their own
 * deadlines.
 */
export async function hostWentAway(env: Env, hostId: string, kind: 'silent' | 'offline', sinceMs: number): Promise<void> {
  await notifyEndpoints(env, hostId, { kind, sinceMs, waitMaxMs: readSettings(env).hostSilenceMaxMs })
}

/** Gives up the workers of a host that has been offline for too long (HOST-37). */
export async function hostLost(env: Env, hostId: string, lastHeardMs: number): Promise<void> {
  await endWorkerChargesOn(openDatabase(env.DB), hostId, lastHeardMs)
  await notifyEndpoints(env, hostId, { kind: 'lost' })
}

/** Handles heartbeats after a silence; the host reports its workloads by itself. */
export async function hostReturned(env: Env, hostId: string): Promise<void> {
  logEvent('info', 'host returned', { hostId })
  await notifyEndpoints(env, hostId, { kind: 'heard' })
  await announceCapacity(env, hostId)
}

/** Drains the workers of a host: they finish their jobs and leave (HOST-32). */
export async function drainWorkers(env: Env, hostId: string): Promise<void> {
  await notifyEndpoints(env, hostId, { kind: 'draining' })
}

// An endpoint that cannot be notified must not prevent the other notifications, so the failure is thrown at the end.
async function notifyEndpoints(env: Env, hostId: string, event: HostEvent): Promise<void> {
  const owners = [...(await listWorkersOn(openDatabase(env.DB), hostId))]
  const outcomes = await settleAtOnce(owners, ([endpointId, workerIds]) =>
    endpointStub(env, asPlane('endpoint', endpointId, 'presence of a host')).hostChanged(workerIds, event),
  )
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
}
