import type { PlaneCheck } from '../../contract/plane/plane.ts'
import { openDatabase } from '../../db/client.ts'
import { KNOWN_MIGRATIONS, listAppliedMigrations } from '../../db/migrations.ts'
import { checkReadiness } from '../../domain/plane/checks.ts'
import { readStorage } from '../../effects/storage.ts'
import type { Env } from '../../env.ts'
import { asPlane } from '../../objects/ownership/as-plane.ts'
import { rateLimiterStub } from '../../objects/stubs.ts'

/** Maximum age of a cached answer in milliseconds, so that frequent requests cost nothing. */
const KEPT_MS = 5_000
/** Id of an object that exists only for these checks; no user has this id. */
const PROBED = 'readiness'

const known = new WeakMap<Env, { atMs: number; faults: Promise<PlaneCheck[]> }>()

/**
 * Returns the faults that keep the plane from serving (PLANE-2): a database without answer or tables, an object that cannot write a row, a
 * disk that is full or soon will be, damaged files. Empty when the plane is ready. Never throws.
 */
export async function readFaults(env: Env, nowMs: number): Promise<PlaneCheck[]> {
  const last = known.get(env)
  if (last !== undefined && Math.abs(nowMs - last.atMs) < KEPT_MS) return await last.faults
  const faults = findFaults(env)
  known.set(env, { atMs: nowMs, faults })
  return await faults
}

async function findFaults(env: Env): Promise<PlaneCheck[]> {
  try {
    const [{ applied }, objectFault, storage] = await Promise.all([readApplied(env), probeObject(env), readStorage(env)])
    return checkReadiness({ applied, known: KNOWN_MIGRATIONS, objectFault, storage })
  } catch (error) {
    return [{ id: 'database', verdict: 'FAIL', evidence: String(error), fix: 'see the log of the plane' }]
  }
}

/** Returns the applied migrations of the database and the duration of the query in milliseconds. */
export async function readApplied(env: Env): Promise<{ applied: string[]; databaseMs: number }> {
  // Both instants are read here, because the difference is the result.
  const startedAtMs = Date.now()
  const applied = await listAppliedMigrations(openDatabase(env.DB))
  return { applied, databaseMs: Date.now() - startedAtMs }
}

/** Opens an object and has it write a row. Returns the reason of a failure, or null. */
export async function probeObject(env: Env): Promise<string | null> {
  try {
    await rateLimiterStub(env, asPlane('user', PROBED, 'checks its readiness')).probe()
    return null
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
