import type { Why } from '../../contract/why/why.ts'
import { openDatabase } from '../../db/client.ts'
import { listPlacementHosts } from '../../db/hosts/capacity.ts'
import type { PlacementHost } from '../../domain/host/placement.ts'
import type { Env } from '../../env.ts'
import { asPlane } from '../../objects/ownership/as-plane.ts'
import { hostStub } from '../../objects/stubs.ts'
import { ExpiringCache } from '../../platform/expiring-cache.ts'

/** What hosts have, as an explanation looks at it. */
export interface Snapshot {
  hosts: readonly PlacementHost[]
  /** When it was read. */
  atMs: number
}

/** How old the hosts of an explanation may be (WHY-9): whoever polls one costs the database no more than this allows. */
export const SNAPSHOT_TTL_MS = 2_000
/** A host's object that takes longer than this counts as silent. */
const WAIT_MS = 1_000

const KEY = 'hosts'
const known = new ExpiringCache<Snapshot>(SNAPSHOT_TTL_MS, 1)
/** Answers of one isolate that are remembered. */
const MAX_ANSWERS = 1_000
const answers = new ExpiringCache<Why>(SNAPSHOT_TTL_MS, MAX_ANSWERS)

/** Every host that is enrolled, offline ones too, at most `SNAPSHOT_TTL_MS` old. */
export async function readSnapshot(env: Env): Promise<Snapshot> {
  const remembered = known.get(KEY, Date.now())
  if (remembered) return remembered
  const atMs = Date.now()
  const snapshot = { hosts: await listPlacementHosts(openDatabase(env.DB), ['ONLINE', 'OFFLINE']), atMs }
  known.set(KEY, snapshot, atMs)
  return snapshot
}

/** The answer about one version of one thing, worked out once in so much time, however often it is asked for (WHY-9). */
export async function rememberWhy(key: string, explain: () => Promise<Why>): Promise<Why> {
  const remembered = answers.get(key, Date.now())
  if (remembered) return remembered
  const atMs = Date.now()
  const answer = await explain()
  answers.set(key, answer, atMs)
  return answer
}

/** Forgets what this isolate knows of hosts, and what it has said. */
export function forgetSnapshot(): void {
  known.clear()
  answers.clear()
}

/** Whether any of these hosts misses beats: what is said of them may be over, and no advice rests on it (WHY-5). */
export async function isAnySilent(env: Env, hostIds: readonly string[]): Promise<boolean> {
  const silences = await Promise.all([...new Set(hostIds)].map((id) => isSilent(env, id)))
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
