import type { BudgetName } from '../contract/accounts/budgets.ts'
import { readBound } from '../db/accounts/budgets.ts'
import { openDatabase } from '../db/client.ts'
import type { Env } from '../env.ts'
import { ExpiringCache } from '../platform/expiring-cache.ts'

/** How long a changed bound may stay unnoticed by another isolate. */
const BOUND_TTL_MS = 60_000
const MAX_BOUNDS = 10_000
/** How long a body counts: a result that is waited for holds none of it. */
const MAX_BODY_MS = 10_000
/** How long an answer may count whose end nobody told. */
const MAX_ANSWER_MS = 600_000

/** What is counted by the isolate alone, and known to no database. */
export type PassingBudget = Extract<BudgetName, 'inFlightBytes' | 'readBytes' | 'readRows'>

/** A body as it counts: `bytes` until then. */
export interface Body {
  bytes: number
  untilMs: number
}

/** One buffer for all of a body: each further one would be memory that everybody waits for until it is collected. */
const DRAIN_BUFFER_BYTES = 64 * 1024
/** Bytes of refused bodies that are read to their end all the same within that time, so that their sender hears why. */
const MAX_DRAINED_BYTES = 64 * 2 ** 20

const bounds = new ExpiringCache<number>(BOUND_TTL_MS, MAX_BOUNDS)
/** With whom a team is counted: its organizations are not more room for anybody (PLN-7). */
const payers = new ExpiringCache<string>(BOUND_TTL_MS, MAX_BOUNDS)

/** Bytes that came through this isolate within the last seconds, by team; a team without any is not there. */
class RecentBytes {
  private readonly byTeam = new Map<string, Set<Body>>()

  of(teamId: string, nowMs: number): number {
    let used = 0
    for (const body of this.byTeam.get(teamId) ?? []) {
      if (nowMs < body.untilMs) used += body.bytes
      else this.leave(teamId, body)
    }
    return used
  }

  enter(teamId: string, bytes: number, nowMs: number, forMs = MAX_BODY_MS): Body {
    const bodies = this.byTeam.get(teamId) ?? new Set()
    const body = { bytes, untilMs: nowMs + forMs }
    bodies.add(body)
    this.byTeam.set(teamId, bodies)
    return body
  }

  /** Counts more of a body, and all of it anew from now on; false where that is beyond the bound. */
  grow(teamId: string, body: Body, bytes: number, bound: number, nowMs: number): boolean {
    this.leave(teamId, body)
    const isRoom = this.of(teamId, nowMs) + body.bytes + bytes <= bound
    const bodies = this.byTeam.get(teamId) ?? new Set()
    this.byTeam.set(teamId, bodies.add(body))
    if (!isRoom) return false
    body.bytes += bytes
    body.untilMs = nowMs + MAX_BODY_MS
    return true
  }

  private leave(teamId: string, body: Body): void {
    const bodies = this.byTeam.get(teamId)
    bodies?.delete(body)
    if (bodies?.size === 0) this.byTeam.delete(teamId)
  }
}

const taken = new RecentBytes()
const read = new RecentBytes()
const drained = new RecentBytes()
const rowsRead = new RecentBytes()

/** Bytes of bodies that a team has sent through this isolate within the last seconds, and the most that it may (PP-207). */
export async function inFlightUse(env: Env, teamId: string, nowMs: number): Promise<{ used: number; bound: number }> {
  const bound = await boundOf(env, teamId, 'inFlightBytes', nowMs)
  return { used: taken.of(countedWith(teamId, nowMs), nowMs), bound }
}

/** The same of large results that it reads (SEC-13). */
export async function readUse(env: Env, teamId: string, nowMs: number): Promise<{ used: number; bound: number }> {
  const bound = await boundOf(env, teamId, 'readBytes', nowMs)
  return { used: read.of(countedWith(teamId, nowMs), nowMs), bound }
}

/** Rows of D1 that heavy reads of a team have read within the last seconds, and the most that it may (RATE-20). */
export async function rowsUse(env: Env, teamId: string, nowMs: number): Promise<{ used: number; bound: number }> {
  const bound = await boundOf(env, teamId, 'readRows', nowMs)
  return { used: rowsRead.of(countedWith(teamId, nowMs), nowMs), bound }
}

/** Counts rows that have been read for a team for the next seconds. */
export function enterRows(teamId: string, rows: number, nowMs: number): void {
  if (rows > 0) rowsRead.enter(countedWith(teamId, nowMs), rows, nowMs)
}

async function boundOf(env: Env, teamId: string, name: PassingBudget, nowMs: number): Promise<number> {
  const key = `${name} ${teamId}`
  const known = bounds.get(key, nowMs)
  if (known !== undefined && payers.get(teamId, nowMs) !== undefined) return known
  const { bound, payer } = await readBound(openDatabase(env.DB), teamId, name)
  bounds.set(key, bound, nowMs)
  payers.set(teamId, payer ?? teamId, nowMs)
  return bound
}

function countedWith(teamId: string, nowMs: number): string {
  return payers.get(teamId, nowMs) ?? teamId
}

/** Counts a result from now to the end of its answer, which calls what this returns, and for some seconds at least. */
export function enterRead(teamId: string, bytes: number, nowMs: number): () => void {
  const answer = read.enter(countedWith(teamId, nowMs), bytes, nowMs, MAX_ANSWER_MS)
  return () => {
    answer.untilMs = Math.min(answer.untilMs, nowMs + MAX_BODY_MS)
  }
}

/** The same within a bound; beyond it, what is counted already. */
export function tryEnterRead(teamId: string, bytes: number, bound: number, nowMs: number): { ended: () => void } | { used: number } {
  const used = read.of(countedWith(teamId, nowMs), nowMs)
  return used + bytes > bound ? { used } : { ended: enterRead(teamId, bytes, nowMs) }
}

/** Counts a body for the next seconds. */
export function enterInFlight(teamId: string, bytes: number, nowMs: number): Body {
  return taken.enter(countedWith(teamId, nowMs), bytes, nowMs)
}

/** Counts `bytes` more of a body that still arrives, for the next seconds all of it; false, and no more is counted, where there is no room. */
export function growInFlight(teamId: string, body: Body, bytes: number, bound: number, nowMs: number): boolean {
  return taken.grow(countedWith(teamId, nowMs), body, bytes, bound, nowMs)
}

/** Whether a refused body is worth reading to its end. Counts it if so: what is read costs everybody time, whatever becomes of it. */
export function mayDrain(teamId: string, bytes: number, nowMs: number): boolean {
  const payer = countedWith(teamId, nowMs)
  if (drained.of(payer, nowMs) + bytes > MAX_DRAINED_BYTES) return false
  drained.enter(payer, bytes, nowMs)
  return true
}

/**
 * Reads a refused body to its end, so that its sender hears why, within what is read of refused bodies at all and no further than it was
 * announced.
 */
export async function drainRefused(body: ReadableStream<Uint8Array> | null, teamId: string, bytes: number, nowMs: number): Promise<void> {
  if (!body || !mayDrain(teamId, bytes, nowMs)) return
  const reader = body.getReader({ mode: 'byob' })
  let buffer = new ArrayBuffer(DRAIN_BUFFER_BYTES)
  for (let read = 0; read <= bytes; ) {
    const { done, value } = await reader.read(new Uint8Array(buffer))
    if (done) return
    read += value.byteLength
    buffer = value.buffer
  }
}

/** Forgets the bounds of a team in this isolate, after they were changed here. */
export function forgetInFlightBound(teamId: string): void {
  bounds.delete(`inFlightBytes ${teamId}`)
  bounds.delete(`readBytes ${teamId}`)
  bounds.delete(`readRows ${teamId}`)
  payers.delete(teamId)
}

/** The same of all teams: a plan was changed here. */
export function forgetInFlightBounds(): void {
  bounds.clear()
  payers.clear()
}
