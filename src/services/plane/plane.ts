import type { PlaneCheck, PlaneStatus } from '../../contract/plane/plane.ts'
import { formatTime } from '../../contract/timestamps.ts'
import { openDatabase } from '../../db/client.ts'
import { listWaitingSince } from '../../db/hosts/capacity-waiters.ts'
import { KNOWN_MIGRATIONS, listAppliedMigrations } from '../../db/migrations.ts'
import { checkPlane, isReady, type PlaneFacts, pendingMigrations } from '../../domain/plane/checks.ts'
import { type Env, readSettings } from '../../env.ts'
import { VERSION } from '../../platform/version.ts'
import type { OperatorContext } from '../context.ts'
import { listHosts } from '../hosts/hosts.ts'

/** More than these are told as so many. */
const WAITING_COUNTED = 1_000
/** An answer to everybody is as old as this at the most, so that asking often costs nothing. */
const READINESS_KEPT_MS = 5_000

/** How the plane itself is (PLN-1). The caller is an operator. */
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
  const [hosts, waitingSinceMs] = await Promise.all([listHosts(env), listWaitingSince(db, WAITING_COUNTED)])
  const { sessions } = readSettings(env)
  return {
    databaseMs,
    applied,
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

async function readApplied(env: Env): Promise<{ applied: string[]; databaseMs: number }> {
  const startedAtMs = Date.now()
  const applied = await listAppliedMigrations(openDatabase(env.DB))
  return { applied, databaseMs: Date.now() - startedAtMs }
}

const known = new WeakMap<Env, { atMs: number; isReady: Promise<boolean> }>()

/** Whether the plane can serve: its database answers and has every table of this release (PLN-2). Never throws. */
export async function readReadiness(env: Env, nowMs: number): Promise<boolean> {
  const last = known.get(env)
  if (last !== undefined && nowMs - last.atMs < READINESS_KEPT_MS) return await last.isReady
  const look = readApplied(env).then(
    ({ applied }) => isReady(essential(applied)),
    () => false,
  )
  known.set(env, { atMs: nowMs, isReady: look })
  return await look
}

function essential(applied: readonly string[]): PlaneCheck[] {
  const pending = pendingMigrations({ applied, known: KNOWN_MIGRATIONS })
  return pending.length === 0 ? [] : [{ id: 'migrations', verdict: 'FAIL', evidence: pending.join(', '), fix: null }]
}
