import type { HostObject } from '../../../durable-objects/host.ts'
import type { Env } from '../../../src/env.ts'
import { env, runDurableObjectAlarm, runInDurableObject } from '../harness.ts'
import { hostStub } from '../runner/stubs.ts'

/** Stops the clock of a host's object, so that only `advanceHost` moves it. */
export async function freezeHostClock(hostId: string): Promise<number> {
  return runInDurableObject(hostStub(env, hostId), (object) => {
    const nowMs = object.now()
    object.now = () => nowMs
    return nowMs
  })
}

/** Moves the clock of a host's object without a reconciliation. */
export async function moveHostClock(hostId: string, ms: number): Promise<void> {
  await runInDurableObject(hostStub(env, hostId), (object) => {
    const before = object.now
    object.now = () => before() + ms
  })
}

/** Moves the clock of a host's object and runs its alarm. */
export async function advanceHost(hostId: string, ms: number): Promise<void> {
  await moveHostClock(hostId, ms)
  await runDurableObjectAlarm(hostStub(env, hostId))
}

/** The bindings as a host's object has them. */
export function envOf(object: HostObject): Env {
  return (object as unknown as { env: Env }).env
}

/** The stored row of a host. */
export async function hostRow(hostId: string): Promise<Record<string, unknown>> {
  const row = await env.DB.prepare('SELECT * FROM hosts WHERE id = ?').bind(hostId).first<Record<string, unknown>>()
  if (!row) throw new Error('no such host')
  return row
}
