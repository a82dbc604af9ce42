import { BUDGETS } from '../../contract/accounts/budgets.ts'
import { findOverrides } from '../../db/accounts/budgets.ts'
import { openDatabase } from '../../db/client.ts'
import type { Env } from '../../env.ts'
import { ExpiringCache } from '../../platform/expiring-cache.ts'

/** How long a changed bound may stay unnoticed by another isolate. */
const BOUND_TTL_MS = 60_000
const MAX_BOUNDS = 10_000
/** How long a body counts: a result that is waited for holds none of it. */
const MAX_BODY_MS = 10_000

interface Body {
  bytes: number
  untilMs: number
}

const bounds = new ExpiringCache<number>(BOUND_TTL_MS, MAX_BOUNDS)
/** Bodies that came through this isolate within the last seconds, by team; a team without any is not there. */
const underWay = new Map<string, Set<Body>>()

/** Bytes of bodies that a team has sent through this isolate within the last seconds, and the most that it may (PP-207). */
export async function inFlightUse(env: Env, teamId: string, nowMs: number): Promise<{ used: number; bound: number }> {
  const known = bounds.get(teamId, nowMs)
  const bound = known ?? (await findOverrides(openDatabase(env.DB), teamId)).inFlightBytes ?? BUDGETS.inFlightBytes.bound
  bounds.set(teamId, bound, nowMs)
  let used = 0
  for (const body of underWay.get(teamId) ?? []) {
    if (nowMs < body.untilMs) used += body.bytes
    else leave(teamId, body)
  }
  return { used, bound }
}

/** Counts a body for the next seconds. */
export function enterInFlight(teamId: string, bytes: number, nowMs: number): void {
  const body = { bytes, untilMs: nowMs + MAX_BODY_MS }
  const bodies = underWay.get(teamId) ?? new Set()
  bodies.add(body)
  underWay.set(teamId, bodies)
}

/** Forgets a bound in this isolate, after it was changed here. */
export function forgetInFlightBound(teamId: string): void {
  bounds.delete(teamId)
}

function leave(teamId: string, body: Body): void {
  const bodies = underWay.get(teamId)
  bodies?.delete(body)
  if (bodies?.size === 0) underWay.delete(teamId)
}
