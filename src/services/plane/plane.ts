import type { PlaneStatus } from '../../contract/plane/plane.ts'
import { formatTime } from '../../contract/timestamps.ts'
import { openDatabase } from '../../db/client.ts'
import { listWaitingSince } from '../../db/hosts/capacity-waiters.ts'
import { KNOWN_MIGRATIONS } from '../../db/migrations.ts'
import { checkPlane, type PlaneFacts, pendingMigrations } from '../../domain/plane/checks.ts'
import { readStorage } from '../../effects/storage.ts'
import { type Env, readSettings } from '../../env.ts'
import { VERSION } from '../../platform/version.ts'
import type { OperatorContext } from '../context.ts'
import { listHosts } from '../hosts/hosts.ts'
import { probeObject, readApplied } from './readiness.ts'

/** Highest count that is reported; larger numbers appear as this one. */
const WAITING_COUNTED = 1_000

/** Returns the status of the plane itself (PLANE-1). The caller is an operator. */
export async function getPlaneStatus({ env, nowMs }: OperatorContext): Promise<PlaneStatus> {
  const facts = await readFacts(env, nowMs)
  return {
    version: VERSION,
    asOf: formatTime(nowMs),
    migrations: { newest: facts.applied.at(-1) ?? null, applied: facts.applied.length, pending: pendingMigrations(facts) },
    checks: checkPlane(facts),
  }
}

async function readFacts(env: Env, nowMs: number): Promise<PlaneFacts> {
  const db = openDatabase(env.DB)
  const { applied, databaseMs } = await readApplied(env)
  const [hosts, waitingSinceMs, objectFault, storage] = await Promise.all([
    listHosts(env),
    listWaitingSince(db, WAITING_COUNTED),
    probeObject(env),
    readStorage(env),
  ])
  const { sessions } = readSettings(env)
  return {
    databaseMs,
    applied,
    objectFault,
    storage,
    known: KNOWN_MIGRATIONS,
    hosts: hosts.map(({ status, health, cordon }) => ({
      isOnline: status === 'ONLINE',
      isHealthy: health === 'HEALTHY',
      isCordoned: cordon !== null,
    })),
    waitingSinceMs,
    hasPreviousSecret: Boolean(env.TOKEN_SECRET_PREVIOUS),
    hasSignIn: sessions !== null && !('fault' in sessions),
    nowMs,
  }
}
