import type { HostLossPolicy } from '../../contract/enums.ts'
import type { OverlayReport } from '../../host-protocol/overlays.ts'
import type { PlacementHost } from '../host/placement.ts'
import { type PodState, TO_RUN } from '../pod/pod.ts'

/**
 * The life cycle of a cluster's members: they are placed and prepared, checked for whether they reach one another, started together, and
 * moved to another host if they cannot start or their host is lost. Each decision is one step, made from the stored rows. Pure.
 */

/** A member as its row states it. Times in milliseconds. */
export interface Member extends Pick<PodState, 'status' | 'statusReason' | 'generation' | 'hostLost' | 'changedAtMs'> {
  id: string
  rank: number
  hostId: string
  /** Its host is being drained. */
  hostDraining: boolean
  /** The newest of its container generations that may start; 0: none yet. */
  readyGeneration: number
  /** Hosts on which its start failed; null once it has run, or was given up. */
  triedHosts: readonly string[] | null
}

/** The facts from which the next steps of a cluster are decided. */
export interface ClusterState {
  isDeleted: boolean
  onHostLoss: HostLossPolicy
  /** The newest check number that was sent to hosts. */
  checkNumber: number
  /** A host still has something of a member, or may have. */
  holdsHosts: boolean
}

/** The current check of whether members reach one another. */
export interface Check {
  number: number
  /** The checked place of each member by its id, as `placeOf` returns it: a member that has moved since is not covered. */
  places: Readonly<Record<string, string>>
  /** When the check of these places began, including its repetitions. */
  sinceMs: number
  /** When this number was sent. */
  askedAtMs: number
  /** Since when every host has answered but not all members are reached; null: that is not so. */
  troubledSinceMs: number | null
}

/** Answers of hosts to the check of a private network. */
export type Answers = readonly { hostId: string; report: OverlayReport }[]

/** One action on the cluster; a decision lists them in order. */
export type Step =
  | { kind: 'ask'; check: Check }
  | { kind: 'release'; members: readonly Pick<Member, 'id' | 'generation' | 'hostId'>[] }
  /** Start it on another host; the current host is added to those tried, unless it is lost or being drained. */
  | { kind: 'move'; member: Member; reason: string }
  /** It cannot start on its host. */
  | { kind: 'fail'; member: Member; reason: string }
  /** It is not to start on any host. */
  | { kind: 'giveUp'; member: Member; reason: string }
  | { kind: 'terminate'; member: Member }
  /** Nothing of the cluster is left on any host. */
  | { kind: 'forget' }

/** Steps to carry out, and the instant of the next decision. */
export interface Decision {
  steps: readonly Step[]
  checkAtMs: number
}

/** Upper bound of hosts on which one member is tried. */
export const MAX_PLACES = 3
/** A member that found no other host is given up after this time. */
export const PLACE_PATIENCE_MS = 10 * 60_000
/** A member that its host does not report as ready fails after this time, which is long because an image may be large. */
export const PREPARE_PATIENCE_MS = 60 * 60_000
/** Members that do not reach one another are checked again after the first time, and one of them fails after the second. */
export const ASK_AGAIN_MS = 5_000
export const REACH_PATIENCE_MS = 30_000
/** The intervals between decisions for a cluster with something in progress, and for one with nothing in progress. */
const CHECK_SOON_MS = 10_000
const CHECK_LATER_MS = 60_000

/** Decides the next steps for a cluster. A step changes the rows, so the caller decides again after each. */
export function decideCluster(
  cluster: ClusterState,
  members: readonly Member[],
  check: Check | null,
  answers: Answers,
  nowMs: number,
): Decision {
  const live = members.filter(({ status }) => status !== 'TERMINATED')
  if (cluster.isDeleted || live.length === 0) return decideEnd(cluster, live, nowMs)
  const givenUp = decideGivingUp(live, nowMs)
  if (givenUp.length > 0) return { steps: givenUp, checkAtMs: nowMs + CHECK_SOON_MS }
  const homeless = live.filter((member) => isHomeless(cluster, member))
  if (homeless.length > 0) {
    return { steps: homeless.map((member) => ({ kind: 'move', member, reason: reasonOf(member) })), checkAtMs: nowMs + CHECK_SOON_MS }
  }
  return decideStart(cluster, live, check, answers, nowMs)
}

/** A member's host and container generation: after either changes, the member has to be checked again. */
export function placeOf({ hostId, generation }: Pick<Member, 'hostId' | 'generation'>): string {
  return `${hostId}/${generation}`
}

/** Whether its container is prepared but may not start yet, because members start together. */
export function isWaiting(member: Member): boolean {
  return isThere(member) && member.readyGeneration < member.generation
}

function isThere({ status, hostLost }: Member): boolean {
  return TO_RUN.includes(status) && !hostLost
}

function decideEnd({ holdsHosts }: ClusterState, live: readonly Member[], nowMs: number): Decision {
  if (live.length > 0) return { steps: live.map((member) => ({ kind: 'terminate', member })), checkAtMs: nowMs + CHECK_SOON_MS }
  return holdsHosts ? { steps: [], checkAtMs: nowMs + CHECK_SOON_MS } : { steps: [{ kind: 'forget' }], checkAtMs: nowMs + CHECK_SOON_MS }
}

/** Whether its start failed on this host, before it ever ran there. A member that the platform stops is EXITED. */
function hasFailed({ status, hostLost, triedHosts }: Member): boolean {
  return status === 'ERROR' && !hostLost && triedHosts !== null
}

// A member that has never run has nothing on a lost host that is worth waiting for.
function isHomeless({ onHostLoss }: Pick<ClusterState, 'onHostLoss'>, member: Member): boolean {
  return hasFailed(member) || (member.hostLost && (onHostLoss === 'REPLACE' || member.triedHosts !== null))
}

function isGivenUp(member: Member, nowMs: number): boolean {
  const { triedHosts, hostLost, changedAtMs } = member
  if (triedHosts === null || !(hasFailed(member) || hostLost)) return false
  return (!hostLost && triedHosts.length + 1 >= MAX_PLACES) || nowMs - changedAtMs >= PLACE_PATIENCE_MS
}

/**
 * Members that wait for a member that is given up are given up too. They come first: if the process stops in between, the rows still show
 * that this has begun (CLU-17).
 */
function decideGivingUp(live: readonly Member[], nowMs: number): Step[] {
  const lost = live.find((member) => isGivenUp(member, nowMs))
  const dead = live.find(isDead)
  const reason = dead?.statusReason ?? `member ${lost?.rank} cannot start: ${lost?.statusReason ?? 'no reason was given'}`
  const isConcerned = (member: Member) => (dead ? member.readyGeneration === 0 : lost !== undefined) && isStillToStart(member)
  const others = live.filter((member) => member.id !== lost?.id && isConcerned(member))
  return [...others, ...(lost ? [lost] : [])].map((member) => ({ kind: 'giveUp', member, reason }))
}

/** Whether it was given up before any member had started. */
function isDead({ status, hostLost, triedHosts, readyGeneration }: Member): boolean {
  return status === 'ERROR' && !hostLost && triedHosts === null && readyGeneration === 0
}

function isStillToStart(member: Member): boolean {
  return member.triedHosts !== null && (isWaiting(member) || hasFailed(member) || member.hostLost)
}

function reasonOf(member: Member): string {
  return member.hostLost
    ? 'moved to another host: its host is lost'
    : `moved to another host: ${isLeaving(member) ? 'its host is being drained' : (member.statusReason ?? 'it could not start')}`
}

/**
 * Whether it runs on a host that is being drained. A member that still waits starts before it moves, so that the start of the others is not
 * delayed.
 */
function isLeaving(member: Member): boolean {
  return member.hostDraining && member.status === 'RUNNING' && !isWaiting(member)
}

function decideStart(
  { checkNumber, onHostLoss }: ClusterState,
  live: readonly Member[],
  check: Check | null,
  answers: Answers,
  nowMs: number,
): Decision {
  const waiting = live.filter(isWaiting)
  if (waiting.length === 0) return decideLeaving(onHostLoss === 'REPLACE' ? live.filter(isLeaving) : [], nowMs)
  if (!check || waiting.some((member) => check.places[member.id] !== placeOf(member))) {
    return {
      steps: [{ kind: 'ask', check: ask(live, Math.max(checkNumber, check?.number ?? 0) + 1, nowMs) }],
      checkAtMs: nowMs + CHECK_SOON_MS,
    }
  }
  const heard = new Map(answers.filter(({ report }) => report.check === check.number).map(({ hostId, report }) => [hostId, report]))
  const ready = waiting.filter((member) => reachesOthers(member, live, heard.get(member.hostId)))
  if (ready.length === waiting.length) return { steps: [{ kind: 'release', members: waiting }], checkAtMs: nowMs + CHECK_SOON_MS }
  const isHeard = live.filter(isThere).every(({ hostId }) => heard.has(hostId))
  return isHeard ? decideTrouble(waiting, ready, check, heard, nowMs) : decideSilence(waiting, ready, check, nowMs)
}

/** Members leave one at a time: the next moves when the one before it runs (CLU-25). */
function decideLeaving([next]: readonly Member[], nowMs: number): Decision {
  if (next === undefined) return { steps: [], checkAtMs: nowMs + CHECK_LATER_MS }
  return { steps: [{ kind: 'move', member: next, reason: reasonOf(next) }], checkAtMs: nowMs + CHECK_SOON_MS }
}

// A member that is not to run, or whose host is lost, need not be reached.
function reachesOthers(member: Member, live: readonly Member[], report: OverlayReport | undefined): boolean {
  if (!report) return false
  const gaps = report.gaps.filter(({ from }) => from === member.id)
  const absent = new Set(live.filter((other) => !isThere(other)).map(({ id }) => id))
  return report.ready.includes(member.id) || (gaps.length > 0 && gaps.every(({ to }) => absent.has(to)))
}

/** A check of the members' current places, with this number. */
export function ask(live: readonly Member[], number: number, nowMs: number): Check {
  const places = Object.fromEntries(live.map((member) => [member.id, placeOf(member)]))
  return { number, places, sinceMs: nowMs, askedAtMs: nowMs, troubledSinceMs: null }
}

// Every host has answered, and not all members are reached: the check is repeated, and after `REACH_PATIENCE_MS` one member fails.
function decideTrouble(
  waiting: readonly Member[],
  ready: readonly Member[],
  check: Check,
  heard: ReadonlyMap<string, OverlayReport>,
  nowMs: number,
): Decision {
  const troubledSinceMs = check.troubledSinceMs ?? nowMs
  if (nowMs - troubledSinceMs >= REACH_PATIENCE_MS) {
    const { member, reason } = blame(waiting, ready, heard)
    return { steps: [{ kind: 'fail', member, reason }], checkAtMs: nowMs + CHECK_SOON_MS }
  }
  if (nowMs - check.askedAtMs >= ASK_AGAIN_MS) {
    const again: Check = { ...check, number: check.number + 1, askedAtMs: nowMs, troubledSinceMs }
    return { steps: [{ kind: 'ask', check: again }], checkAtMs: nowMs + ASK_AGAIN_MS }
  }
  return { steps: [], checkAtMs: check.askedAtMs + ASK_AGAIN_MS }
}

// A host that does not answer may still be pulling an image.
function decideSilence(waiting: readonly Member[], ready: readonly Member[], check: Check, nowMs: number): Decision {
  const dueMs = check.sinceMs + PREPARE_PATIENCE_MS
  if (nowMs < dueMs) return { steps: [], checkAtMs: Math.min(dueMs, nowMs + CHECK_SOON_MS) }
  const late = waiting.filter((member) => !ready.includes(member))
  const reason = `not ready within ${PREPARE_PATIENCE_MS / 60_000} minutes`
  return { steps: late.map((member) => ({ kind: 'fail', member, reason })), checkAtMs: nowMs + CHECK_SOON_MS }
}

/** The member in the most broken pairs, the highest rank among equals: the other members connect to rank 0. */
function blame(
  waiting: readonly Member[],
  ready: readonly Member[],
  heard: ReadonlyMap<string, OverlayReport>,
): { member: Member; reason: string } {
  const gaps = [...heard.values()].flatMap((report) => report.gaps)
  const countOf = ({ id }: Member) => gaps.filter(({ from, to }) => from === id || to === id).length
  const suspects = waiting.some((member) => countOf(member) > 0) ? waiting : waiting.filter((member) => !ready.includes(member))
  const [member = waiting[0]] = suspects.toSorted((a, b) => countOf(b) - countOf(a) || b.rank - a.rank)
  if (!member) throw new Error('no member waits')
  const gap = gaps.find(({ from, to }) => from === member.id || to === member.id)
  return { member, reason: gap ? `${gap.from} does not reach ${gap.to}: ${gap.reason}` : 'it does not reach the other members' }
}

/** Whether a host may take a member: its start has not failed there, and the others reach it there (CLU-15, CLU-16). */
export function takesMember({ id, overlay }: Pick<PlacementHost, 'id' | 'overlay'>, member: Member, others: readonly Member[]): boolean {
  if (id === member.hostId || member.triedHosts?.includes(id)) return false
  return overlay === 'routed' || (overlay === 'local' && others.every(({ hostId }) => hostId === id))
}

/** The hosts on which a member was tried, once it has left its current one, which does not count if it is lost or being drained. */
export function triedAfter(member: Member): string[] {
  const { triedHosts, hostLost, hostId } = member
  return hostLost || isLeaving(member) ? [...(triedHosts ?? [])] : [...(triedHosts ?? []), hostId]
}
