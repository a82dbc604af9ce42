import type { BudgetName } from '../contract/accounts/budgets.ts'
import { readBound } from '../db/accounts/budgets.ts'
import { openDatabase } from '../db/client.ts'
import type { Env } from '../env.ts'
import { ExpiringCache } from '../platform/expiring-cache.ts'

/** How long another isolate may use a bound after a change. */
const BOUND_TTL_MS = 60_000
const MAX_BOUNDS = 10_000
/** How long a body counts. A request that waits for its result does not count for that wait. */
const MAX_BODY_MS = 10_000
/** Maximum time that an answer counts when its end is never reported. */
const MAX_ANSWER_MS = 600_000

/** Budgets that are counted by each isolate alone and stored in no database. */
export type PassingBudget = Extract<BudgetName, 'inFlightBytes' | 'readBytes' | 'readRows'>

/** A counted body: `bytes` count until `untilMs`. */
export interface Body {
  bytes: number
  untilMs: number
}

/** One buffer for all chunks of a body: a buffer per chunk would use memory whose collection delays all requests. */
const DRAIN_BUFFER_BYTES = 64 * 1024
/** Bytes of refused bodies per account and window that are read to the end, so that their senders receive the refusal. */
const MAX_DRAINED_BYTES = 64 * 2 ** 20

const bounds = new ExpiringCache<number>(BOUND_TTL_MS, MAX_BOUNDS)
/** The account that a team's use counts for: organizations add no further room (PLAN-5). */
const payers = new ExpiringCache<string>(BOUND_TTL_MS, MAX_BOUNDS)

/** Bytes that passed through this isolate in the last seconds, by team; a team without any has no entry. */
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

  /** Counts `bytes` more of a body and restarts its time; false when that would exceed the bound. */
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

function useOf(budget: PassingBudget, counted: RecentBytes) {
  return async (env: Env, teamId: string, nowMs: number): Promise<{ used: number; bound: number }> => {
    const bound = await boundOf(env, teamId, budget, nowMs)
    return { used: counted.of(countedWith(teamId, nowMs), nowMs), bound }
  }
}

/** Returns the bytes of bodies that a team has sent through this isolate in the last seconds, and the bound (BUDGET-4). */
export const inFlightUse = useOf('inFlightBytes', taken)
/** Returns the bytes of large results that a team reads, and the bound (RATE-32). */
export const readUse = useOf('readBytes', read)
/** Returns the D1 rows that heavy reads of a team have read in the last seconds, and the bound (RATE-20). */
export const rowsUse = useOf('readRows', rowsRead)

/** Counts rows that were read for a team, for the next seconds. */
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

/** Counts a result until the returned function is called at the end of the answer, and for some seconds at least. */
export function enterRead(teamId: string, bytes: number, nowMs: number): () => void {
  const answer = read.enter(countedWith(teamId, nowMs), bytes, nowMs, MAX_ANSWER_MS)
  return () => {
    answer.untilMs = Math.min(answer.untilMs, nowMs + MAX_BODY_MS)
  }
}

/** Counts a result like `enterRead` if it fits within the bound; else returns the bytes that are counted already. */
export function tryEnterRead(teamId: string, bytes: number, bound: number, nowMs: number): { ended: () => void } | { used: number } {
  const used = read.of(countedWith(teamId, nowMs), nowMs)
  return used + bytes > bound ? { used } : { ended: enterRead(teamId, bytes, nowMs) }
}

/** Counts a body for the next seconds. */
export function enterInFlight(teamId: string, bytes: number, nowMs: number): Body {
  return taken.enter(countedWith(teamId, nowMs), bytes, nowMs)
}

/** Counts `bytes` more of a body that is still arriving and restarts its time; returns false and counts no more when there is no room. */
export function growInFlight(teamId: string, body: Body, bytes: number, bound: number, nowMs: number): boolean {
  return taken.grow(countedWith(teamId, nowMs), body, bytes, bound, nowMs)
}

/** Returns whether a refused body may be read to its end, and counts it if so: reading it takes time from other requests. */
export function mayDrain(teamId: string, bytes: number, nowMs: number): boolean {
  const payer = countedWith(teamId, nowMs)
  if (drained.of(payer, nowMs) + bytes > MAX_DRAINED_BYTES) return false
  drained.enter(payer, bytes, nowMs)
  return true
}

/**
 * Reads a refused body to its end so that its sender receives the refusal, within the limit for refused bodies and no further than the
 * announced length.
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

/** Drops the cached bounds of a team in this isolate after a change made here. */
export function dropInFlightBound(teamId: string): void {
  bounds.delete(`inFlightBytes ${teamId}`)
  bounds.delete(`readBytes ${teamId}`)
  bounds.delete(`readRows ${teamId}`)
  payers.delete(teamId)
}

/** Drops the cached bounds of all teams, because a plan was changed here. */
export function dropInFlightBounds(): void {
  bounds.clear()
  payers.clear()
}
