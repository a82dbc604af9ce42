import type { HostLossPolicy, PodStatus } from '../../contract/enums.ts'
import type { OverlayReport } from '../../host-protocol/overlays.ts'
import type { PlacementHost } from '../host/placement.ts'
import { TO_RUN } from '../pod/pod.ts'

/**
 * What becomes of a cluster's members: they are placed and made ready, asked whether they reach one another, started together, and started
 * elsewhere when they cannot start or their host is lost. One step at a time, from what the rows say. Pure.
 */

/** A member as its row says it. Times in milliseconds. */
export interface Member {
  id: string
  rank: number
  hostId: string
  generation: number
  status: PodStatus
  hostLost: boolean
  /** Its host is being emptied. */
  hostDraining: boolean
  /** The newest of its containers that may start; 0: none was yet. */
  readyGeneration: number
  /** Hosts on which it could not be started; null once it has run, or was given up. */
  triedHosts: readonly string[] | null
  statusReason: string | null
  changedAtMs: number
}

export interface ClusterState {
  isDeleted: boolean
  onHostLoss: HostLossPolicy
  /** The newest question that hosts are told. */
  checkNumber: number
  /** Something of a member is still on a host, or may be. */
  holdsHosts: boolean
}

/** The question that stands whether members reach one another. */
export interface Check {
  number: number
  /** Who is asked, and where, at which container: what is elsewhere now was not asked. */
  places: Readonly<Record<string, string>>
  /** Since when these places are asked, however often. */
  sinceMs: number
  /** When this number was asked. */
  askedAtMs: number
  /** Since when every host has answered and yet not all are reached; null: not so. */
  troubledSinceMs: number | null
}

export type Answers = readonly { hostId: string; report: OverlayReport }[]

/** What is to be done about it, one thing after the other. */
export type Step =
  | { kind: 'ask'; check: Check }
  | { kind: 'release'; members: readonly Pick<Member, 'id' | 'generation' | 'hostId'>[] }
  /** Start it on another host; the present one goes among those that were tried, unless it is lost. */
  | { kind: 'move'; member: Member; reason: string }
  /** It cannot start where it is. */
  | { kind: 'fail'; member: Member; reason: string }
  /** It is to start nowhere any more. */
  | { kind: 'giveUp'; member: Member; reason: string }
  | { kind: 'terminate'; member: Member }
  /** Nothing of the cluster is left. */
  | { kind: 'forget' }

export interface Decision {
  steps: readonly Step[]
  lookAtMs: number
}

/** Hosts on which one member is tried. */
export const MAX_PLACES = 3
/** A member that found no other host is given up after this. */
export const PLACE_PATIENCE_MS = 10 * 60_000
/** Hosts that do not say that their members are ready are given up after this: an image may be large. */
export const PREPARE_PATIENCE_MS = 60 * 60_000
/** Members that do not reach one another are asked again after this, and given up after the longer. */
export const ASK_AGAIN_MS = 5_000
export const REACH_PATIENCE_MS = 30_000
/** A look at a cluster in which something is under way, and at one in which nothing is. */
const LOOK_SOON_MS = 10_000
const LOOK_LATER_MS = 60_000

/** What is to be done for a cluster now. A step changes the rows, so decide anew after each. */
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
  if (givenUp.length > 0) return { steps: givenUp, lookAtMs: nowMs + LOOK_SOON_MS }
  const homeless = live.filter((member) => isHomeless(cluster, member))
  if (homeless.length > 0) {
    return { steps: homeless.map((member) => ({ kind: 'move', member, reason: reasonOf(member) })), lookAtMs: nowMs + LOOK_SOON_MS }
  }
  return decideStart(cluster, live, check, answers, nowMs)
}

/** Where a member is, and which of its containers: another place has to be asked anew. */
export function placeOf({ hostId, generation }: Pick<Member, 'hostId' | 'generation'>): string {
  return `${hostId}/${generation}`
}

/** Whether its container waits for the others. */
export function isWaiting(member: Member): boolean {
  return isThere(member) && member.readyGeneration < member.generation
}

function isThere({ status, hostLost }: Member): boolean {
  return TO_RUN.includes(status) && !hostLost
}

function decideEnd({ holdsHosts }: ClusterState, live: readonly Member[], nowMs: number): Decision {
  if (live.length > 0) return { steps: live.map((member) => ({ kind: 'terminate', member })), lookAtMs: nowMs + LOOK_SOON_MS }
  return holdsHosts ? { steps: [], lookAtMs: nowMs + LOOK_SOON_MS } : { steps: [{ kind: 'forget' }], lookAtMs: nowMs + LOOK_SOON_MS }
}

/** Whether it could not be started where it is: it failed before it ever ran there. What the platform stops is EXITED. */
function hasFailed({ status, hostLost, triedHosts }: Member): boolean {
  return status === 'ERROR' && !hostLost && triedHosts !== null
}

// Until it has run there is nothing on a lost host to wait for.
function isHomeless({ onHostLoss }: Pick<ClusterState, 'onHostLoss'>, member: Member): boolean {
  return hasFailed(member) || (member.hostLost && (onHostLoss === 'REPLACE' || member.triedHosts !== null))
}

function isGivenUp(member: Member, nowMs: number): boolean {
  const { triedHosts, hostLost, changedAtMs } = member
  if (triedHosts === null || !(hasFailed(member) || hostLost)) return false
  return (!hostLost && triedHosts.length + 1 >= MAX_PLACES) || nowMs - changedAtMs >= PLACE_PATIENCE_MS
}

/** Whoever waits for a member that is given up is given up too; if this ends in between, the rows still say that it began (CLU-17). */
function decideGivingUp(live: readonly Member[], nowMs: number): Step[] {
  const lost = live.find((member) => isGivenUp(member, nowMs))
  const dead = live.find(isDead)
  const reason = dead?.statusReason ?? `member ${lost?.rank} cannot start: ${lost?.statusReason ?? 'no reason was given'}`
  const isConcerned = (member: Member) => (dead ? member.readyGeneration === 0 : lost !== undefined) && isStillToStart(member)
  const others = live.filter((member) => member.id !== lost?.id && isConcerned(member))
  return [...others, ...(lost ? [lost] : [])].map((member) => ({ kind: 'giveUp', member, reason }))
}

/** It was given up before anybody had started. */
function isDead({ status, hostLost, triedHosts, readyGeneration }: Member): boolean {
  return status === 'ERROR' && !hostLost && triedHosts === null && readyGeneration === 0
}

function isStillToStart(member: Member): boolean {
  return member.triedHosts !== null && (isWaiting(member) || hasFailed(member) || member.hostLost)
}

function reasonOf(member: Member): string {
  return member.hostLost
    ? 'moved to another host: its own is lost'
    : `moved to another host: ${isLeaving(member) ? 'its own is being emptied' : (member.statusReason ?? 'it could not start')}`
}

/** It runs on a host that is being emptied. One that still waits starts first: with its start, nobody else's is put off. */
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
      lookAtMs: nowMs + LOOK_SOON_MS,
    }
  }
  const heard = new Map(answers.filter(({ report }) => report.check === check.number).map(({ hostId, report }) => [hostId, report]))
  const ready = waiting.filter((member) => reachesOthers(member, live, heard.get(member.hostId)))
  if (ready.length === waiting.length) return { steps: [{ kind: 'release', members: waiting }], lookAtMs: nowMs + LOOK_SOON_MS }
  const isHeard = live.filter(isThere).every(({ hostId }) => heard.has(hostId))
  return isHeard ? decideTrouble(waiting, ready, check, heard, nowMs) : decideSilence(waiting, ready, check, nowMs)
}

/** One after the other: the next leaves when the one before it runs (CLU-25). */
function decideLeaving([next]: readonly Member[], nowMs: number): Decision {
  if (next === undefined) return { steps: [], lookAtMs: nowMs + LOOK_LATER_MS }
  return { steps: [{ kind: 'move', member: next, reason: reasonOf(next) }], lookAtMs: nowMs + LOOK_SOON_MS }
}

// Who is not there need not be reached.
function reachesOthers(member: Member, live: readonly Member[], report: OverlayReport | undefined): boolean {
  if (!report) return false
  const gaps = report.gaps.filter(({ from }) => from === member.id)
  const absent = new Set(live.filter((other) => !isThere(other)).map(({ id }) => id))
  return report.ready.includes(member.id) || (gaps.length > 0 && gaps.every(({ to }) => absent.has(to)))
}

/** The question about these places, under the next number. */
export function ask(live: readonly Member[], number: number, nowMs: number): Check {
  const places = Object.fromEntries(live.map((member) => [member.id, placeOf(member)]))
  return { number, places, sinceMs: nowMs, askedAtMs: nowMs, troubledSinceMs: null }
}

// Every host has answered, and not all are reached: once more, and after a while one is to blame.
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
    return { steps: [{ kind: 'fail', member, reason }], lookAtMs: nowMs + LOOK_SOON_MS }
  }
  if (nowMs - check.askedAtMs >= ASK_AGAIN_MS) {
    const again: Check = { ...check, number: check.number + 1, askedAtMs: nowMs, troubledSinceMs }
    return { steps: [{ kind: 'ask', check: again }], lookAtMs: nowMs + ASK_AGAIN_MS }
  }
  return { steps: [], lookAtMs: check.askedAtMs + ASK_AGAIN_MS }
}

// A host that says nothing may be fetching an image.
function decideSilence(waiting: readonly Member[], ready: readonly Member[], check: Check, nowMs: number): Decision {
  const dueMs = check.sinceMs + PREPARE_PATIENCE_MS
  if (nowMs < dueMs) return { steps: [], lookAtMs: Math.min(dueMs, nowMs + LOOK_SOON_MS) }
  const late = waiting.filter((member) => !ready.includes(member))
  const reason = `not ready within ${PREPARE_PATIENCE_MS / 60_000} minutes`
  return { steps: late.map((member) => ({ kind: 'fail', member, reason })), lookAtMs: nowMs + LOOK_SOON_MS }
}

/** The member that stands at most of the broken pairs, the highest rank among equals: rank 0 is where the others look. */
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

/** Where a member may go: not where it failed, and where the others reach it (CLU-15, CLU-16). */
export function takesMember({ id, overlay }: Pick<PlacementHost, 'id' | 'overlay'>, member: Member, others: readonly Member[]): boolean {
  if (id === member.hostId || member.triedHosts?.includes(id)) return false
  return overlay === 'routed' || (overlay === 'local' && others.every(({ hostId }) => hostId === id))
}

/** The hosts on which a member was tried, once it has left this one. One that is lost or being emptied has refused nothing. */
export function triedAfter(member: Member): string[] {
  const { triedHosts, hostLost, hostId } = member
  return hostLost || isLeaving(member) ? [...(triedHosts ?? [])] : [...(triedHosts ?? []), hostId]
}
