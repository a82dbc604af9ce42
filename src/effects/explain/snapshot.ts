import { HOST_STATUSES } from '../../contract/enums.ts'
import { openDatabase } from '../../db/client.ts'
import { listPlacementHosts } from '../../db/hosts/placement-hosts.ts'
import type { Advice } from '../../domain/explain/option.ts'
import type { Env } from '../../env.ts'
import { asPlane } from '../../objects/ownership/as-plane.ts'
import { hostStub } from '../../objects/stubs.ts'
import { mapAtOnce } from '../../platform/at-once.ts'
import { knownHosts, type Snapshot } from './memory.ts'

/** Time after which a host's object that has not answered counts as silent. */
const WAIT_MS = 1_000

const KEY = 'hosts'

/** Returns all enrolled hosts, including offline ones, at most `EXPLANATION_TTL_MS` old. */
export function readSnapshot(env: Env, nowMs: number): Promise<Snapshot> {
  return knownHosts.load(KEY, nowMs, async () => ({ hosts: await listPlacementHosts(openDatabase(env.DB), HOST_STATUSES), atMs: nowMs }))
}

/** Whether any host of this advice misses heartbeats: its data may be out of date, so no advice depends on it (WHY-5). */
export async function isAnySilent(env: Env, advice: readonly Advice[]): Promise<boolean> {
  const hostIds = new Set(advice.flatMap((one) => one.hostIds))
  const silences = await mapAtOnce([...hostIds], (id) => isSilent(env, id))
  return silences.includes(true)
}

async function isSilent(env: Env, hostId: string): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | null = null
  const timeout = new Promise<true>((resolve) => {
    timer = setTimeout(() => resolve(true), WAIT_MS)
  })
  const asked = hostStub(env, asPlane('host', hostId, 'explains')).presence()
  const answer = asked.then(
    (presence) => presence === null || presence.suspect,
    () => true,
  )
  try {
    return await Promise.race([answer, timeout])
  } finally {
    clearTimeout(timer)
  }
}
