import { endWorkerChargesOn } from '../db/billing/charges.ts'
import { openDatabase } from '../db/client.ts'
import { listWorkersOn } from '../db/hosts/host-cordon.ts'
import type { HostEvent } from '../domain/host/event.ts'
import { type Env, readSettings } from '../env.ts'
import { asPlane } from '../objects/ownership/as-plane.ts'
import { endpointStub } from '../objects/stubs.ts'
import { logEvent } from '../platform/log.ts'
import { announceCapacity } from './capacity.ts'

// What follows from the presence of a machine for whatever runs there. The host's object calls these, and calls again what threw; so each
// of them may be repeated. `sinceMs` is the last beat, on the plane's clock.

/** Endpoints that are told at the same time. */
const TOLD_AT_ONCE = 32

/** Beats are missing: what the host holds is given to nobody else before the host itself has stopped it (HOST-36). */
export async function hostWentSilent(env: Env, hostId: string, sinceMs: number): Promise<void> {
  await tellEndpoints(env, hostId, { kind: 'silent', sinceMs, waitMaxMs: readSettings(env).hostSilenceMaxMs })
}

/** Its lease is over. Workers that have not started yet are looked for elsewhere; the others have their own deadlines (HOST-36). */
export async function hostWentOffline(env: Env, hostId: string, sinceMs: number): Promise<void> {
  await tellEndpoints(env, hostId, { kind: 'offline', sinceMs, waitMaxMs: readSettings(env).hostSilenceMaxMs })
}

/** It has been offline for so long that nobody waits for it: its workers are given up (HOST-37). */
export async function hostLost(env: Env, hostId: string, lastHeardMs: number): Promise<void> {
  await endWorkerChargesOn(openDatabase(env.DB), hostId, lastHeardMs)
  await tellEndpoints(env, hostId, { kind: 'lost' })
}

/** It was silent and beats again; what it holds it reports by itself. */
export async function hostReturned(env: Env, hostId: string): Promise<void> {
  logEvent('info', 'host returned', { hostId })
  await tellEndpoints(env, hostId, { kind: 'heard' })
  await announceCapacity(env)
}

/** The operator drains it: its workers finish what they hold and go (HOST-32). */
export async function drainWorkers(env: Env, hostId: string): Promise<void> {
  await tellEndpoints(env, hostId, { kind: 'draining' })
}

// One endpoint that cannot be told must not keep the news from the others, so the failure comes at the end.
async function tellEndpoints(env: Env, hostId: string, event: HostEvent): Promise<void> {
  const owners = [...(await listWorkersOn(openDatabase(env.DB), hostId))]
  let failure: unknown = null
  for (let at = 0; at < owners.length; at += TOLD_AT_ONCE) {
    const told = owners
      .slice(at, at + TOLD_AT_ONCE)
      .map(([endpointId, workerIds]) =>
        endpointStub(env, asPlane('endpoint', endpointId, 'presence of a host')).hostChanged(workerIds, event),
      )
    for (const outcome of await Promise.allSettled(told)) if (outcome.status === 'rejected') failure = outcome.reason
  }
  if (failure !== null) throw failure
}
