/** Facts about the plane itself, from which its checks derive verdicts with a fix. Pure. */

import type { PlaneCheck } from '../../contract/plane/plane.ts'
import { type StorageFacts, storageRoom } from './storage-room.ts'

export interface PlaneFacts {
  /** Duration of one statement, milliseconds. */
  databaseMs: number
  applied: readonly string[]
  /** Error of opening an object and writing a row in it; null when both succeeded. */
  objectFault: string | null
  /** Disk of a plane that runs on one machine; null elsewhere. */
  storage: StorageFacts | null
  /** Migrations of this release, oldest first. */
  known: readonly string[]
  hosts: readonly { isOnline: boolean; isHealthy: boolean; isCordoned: boolean }[]
  /** Instants from which endpoints have been waiting for capacity, milliseconds since the epoch. */
  waitingSinceMs: readonly number[]
  hasPreviousSecret: boolean
  hasSignIn: boolean
  nowMs: number
}

const SLOW_DATABASE_MS = 500
const LONG_WAIT_MS = 15 * 60_000
const MINUTE_MS = 60_000
const MIB = 2 ** 20

/** Migrations of this release that are not applied to the database. */
export function pendingMigrations({ applied, known }: Pick<PlaneFacts, 'applied' | 'known'>): string[] {
  return known.filter((name) => !applied.includes(name))
}

/** All checks, in a fixed order (PLANE-1). */
export function checkPlane(facts: PlaneFacts): PlaneCheck[] {
  return [
    database(facts),
    migrations(facts),
    objects(facts),
    ...storage(facts),
    hosts(facts),
    waiting(facts),
    secrets(facts),
    signIn(facts),
  ]
}

/**
 * Failed checks that keep the plane from serving, and a disk that is low (PLANE-2). The other checks need the operator's attention, but no
 * traffic has to go elsewhere because of them.
 */
export function checkReadiness(facts: Pick<PlaneFacts, 'applied' | 'known' | 'objectFault' | 'storage'>): PlaneCheck[] {
  return [migrations(facts), objects(facts), ...storage(facts)].filter(
    ({ id, verdict }) => verdict === 'FAIL' || (id === 'disk' && verdict === 'WARN'),
  )
}

const ok = (id: string, evidence: string): PlaneCheck => ({ id, verdict: 'OK', evidence, fix: null })
const fail = (id: string, evidence: string, fix: string): PlaneCheck => ({ id, verdict: 'FAIL', evidence, fix })
const warn = (id: string, evidence: string, fix: string): PlaneCheck => ({ id, verdict: 'WARN', evidence, fix })

function database({ databaseMs }: PlaneFacts): PlaneCheck {
  const evidence = `one statement took ${databaseMs} ms`
  return databaseMs <= SLOW_DATABASE_MS
    ? ok('database', evidence)
    : warn('database', evidence, 'look at the load of D1 and where it stands')
}

function objects({ objectFault }: Pick<PlaneFacts, 'objectFault'>): PlaneCheck {
  return objectFault === null
    ? ok('objects', 'one was opened and has written a row')
    : fail(
        'objects',
        `none could write a row: ${objectFault}`,
        'see the log of the plane; on one machine, check its disk and the data directory',
      )
}

function storage({ storage: facts }: Pick<PlaneFacts, 'storage'>): PlaneCheck[] {
  if (facts === null) return []
  const evidence = `${Math.floor(facts.freeBytes / MIB)} of ${Math.floor(facts.totalBytes / MIB)} MiB are free`
  const room = storageRoom(facts)
  const fix = 'make room on the disk of the data directory'
  const disk =
    room === 'OK'
      ? ok('disk', evidence)
      : room === 'LOW'
        ? warn('disk', evidence, fix)
        : fail('disk', `${evidence}: nothing new is accepted`, fix)
  const files =
    facts.damaged.length === 0
      ? ok('files', 'every database file begins as it should and has all its pages')
      : fail(
          'files',
          `damaged: ${facts.damaged.join(', ')}`,
          'restore these files from a copy of the data directory; everything else still works',
        )
  return [disk, files]
}

function migrations(facts: Pick<PlaneFacts, 'applied' | 'known'>): PlaneCheck {
  const pending = pendingMigrations(facts)
  const newer = facts.applied.filter((name) => !facts.known.includes(name))
  if (pending.length > 0) {
    const evidence = `${pending.length} of this release are not applied: ${pending.join(', ')}`
    return { id: 'migrations', verdict: 'FAIL', evidence, fix: 'npm run deploy applies them, and so does npm start' }
  }
  if (newer.length > 0)
    return warn('migrations', `the database has ${newer.join(', ')}, which this release does not know`, 'deploy the newer release again')
  return ok('migrations', `${facts.applied.length} applied, the newest is ${facts.known.at(-1) ?? 'none'}`)
}

function hosts({ hosts: all }: PlaneFacts): PlaneCheck {
  if (all.length === 0) return warn('hosts', 'no machine has joined', 'add one: npm run admin -- join-tokens create')
  const expected = all.filter(({ isCordoned }) => !isCordoned)
  const silent = expected.filter(({ isOnline }) => !isOnline).length
  const sick = expected.filter(({ isOnline, isHealthy }) => isOnline && !isHealthy).length
  const evidence = `${all.length} joined, ${silent} silent and ${sick} unhealthy without being cordoned`
  return silent + sick === 0
    ? ok('hosts', evidence)
    : warn('hosts', evidence, 'hosts list names them with the reason; cordon what is under repair')
}

function waiting({ waitingSinceMs, nowMs }: PlaneFacts): PlaneCheck {
  const longestMs = Math.max(0, ...waitingSinceMs.map((sinceMs) => nowMs - sinceMs))
  const evidence =
    waitingSinceMs.length === 0
      ? 'nothing waits for capacity'
      : `${waitingSinceMs.length} wait for capacity, the longest for ${Math.floor(longestMs / MINUTE_MS)} min`
  return longestMs <= LONG_WAIT_MS
    ? ok('waiting', evidence)
    : warn('waiting', evidence, 'add machines of what they ask for, or uncordon some')
}

function secrets({ hasPreviousSecret }: PlaneFacts): PlaneCheck {
  return hasPreviousSecret
    ? warn('secrets', 'TOKEN_SECRET_PREVIOUS is still set', 'seal everything anew and remove it: npm run admin -- secrets reseal')
    : ok('secrets', 'set, and no previous one is accepted')
}

function signIn({ hasSignIn }: PlaneFacts): PlaneCheck {
  return ok('sign-in', hasSignIn ? 'people sign in at the provider' : 'no provider is set: people sign in with keys')
}
