import { openDatabase } from '../../src/db/client.ts'
import { setHostLost, setHostStatus } from '../../src/db/hosts/enrolment.ts'
import { checkDueAtMs, judgePresence, type PresenceFacts, type PresenceStage, planeWasAway } from '../../src/domain/host/presence.ts'
import { auditStatement } from '../../src/effects/audit.ts'
import { hostLost, hostReturned, hostWentAway } from '../../src/effects/presence.ts'
import { type Env, readSettings } from '../../src/env.ts'
import { logEvent } from '../../src/platform/log.ts'
import { BY_PLATFORM } from '../../src/rpc/cause.ts'
import type { Alarms } from '../alarms.ts'
import type { HostLinks } from './links.ts'
import type { WorkloadStore } from './workload-store.ts'

/** The last beat is stored at most this often, so that after a restart of the plane a silence begins at most this much too early. */
const STORE_BEAT_EVERY_MS = 60_000

/** State of the host's presence that survives a restart of the object. Written on a change and once a minute, never for a beat. */
interface PresenceRecord {
  stage: PresenceStage
  /** Last beat on any link, as last stored; an open link has a newer value. */
  lastBeatAtMs: number
  /** Silence before this time is attributed to the plane (HOST-35). */
  countFromMs: number
  linkClosedAtMs: number | null
  offlineAtMs: number | null
  /** Time of the next check, when this was stored. */
  dueAtMs: number | null
  /** The host has returned, and dependents have not been notified yet. */
  returned: boolean
}

const PRESENCE_KEY = 'presence'
export const PRESENCE_TIMER = 'presence'

/** Tracks whether the host is present, and notifies dependents: one alarm per period after which it becomes suspect. */
export class HostPresence {
  private readonly env: Env
  private readonly store: WorkloadStore
  private readonly links: HostLinks
  private readonly alarms: Alarms
  private readonly now: () => number
  private readonly onLost: (hostId: string) => Promise<void>
  /** Time of the next check; null after a restart of the object, and when none follows. */
  private dueAtMs: number | null = null
  private turn: Promise<unknown> = Promise.resolve()

  constructor(
    env: Env,
    store: WorkloadStore,
    links: HostLinks,
    alarms: Alarms,
    now: () => number,
    onLost: (hostId: string) => Promise<void>,
  ) {
    this.env = env
    this.store = store
    this.links = links
    this.alarms = alarms
    this.now = now
    this.onLost = onLost
  }

  /** Moves all times after a clock step: a host with a last beat in the future would count as present until then (CLK-5). */
  move(stepMs: number): void {
    const record = this.record()
    if (!record) return
    const moved = (atMs: number | null) => (atMs === null ? null : atMs + stepMs)
    this.dueAtMs = moved(this.dueAtMs)
    const { lastBeatAtMs, countFromMs, linkClosedAtMs, offlineAtMs, dueAtMs } = record
    const times = { lastBeatAtMs: lastBeatAtMs + stepMs, countFromMs: countFromMs + stepMs, dueAtMs: moved(dueAtMs) }
    const kept = { ...record, ...times, linkClosedAtMs: moved(linkClosedAtMs), offlineAtMs: moved(offlineAtMs) }
    this.store.writeMeta(PRESENCE_KEY, JSON.stringify(kept))
  }

  /** For the operator: the last beat, and whether the following ones are missing. Null before the host's first link. */
  view(): { lastBeatAtMs: number; suspect: boolean } | null {
    const stored = this.record()
    if (!stored) return null
    const record = this.excuseOutage(stored)
    const { stage } = judgePresence(this.factsOf(record), this.now())
    return { lastBeatAtMs: this.lastBeatAtMs(record), suspect: stage !== 'LIVE' }
  }

  /** Last sign of life of a host whose beats are missing (POD-23). Null while it beats. */
  silentSinceMs(): number | null {
    const view = this.view()
    return view?.suspect ? view.lastBeatAtMs : null
  }

  /** Sets the host online after its hello and the storage of its inventory. */
  async cameOnline(hostId: string): Promise<void> {
    await this.inTurn(async () => {
      const before = this.record()
      const returned = before !== null && (before.returned || before.stage !== 'LIVE')
      await setHostStatus(openDatabase(this.env.DB), hostId, 'ONLINE', this.now())
      await this.save({ ...freshRecord(this.now()), returned })
      logEvent('info', 'host online', { hostId })
    })
  }

  /** Handles the end of a link when no other is left. */
  async linkEnded(lastBeatAtMs: number): Promise<void> {
    await this.inTurn(async () => {
      const record = this.record()
      if (!record || !this.links.none() || isGone(record.stage)) return
      await this.save({ ...record, lastBeatAtMs: Math.max(record.lastBeatAtMs, lastBeatAtMs), linkClosedAtMs: this.now() })
    })
  }

  /** Checks the presence against the clock and enters the due stage. An error is retried at the next check. */
  async check(): Promise<void> {
    await this.inTurn(async () => {
      const hostId = this.store.hostId()
      if (hostId === null) return
      // Without a record the link was accepted by a release that stored none.
      const found = this.excuseOutage(this.record() ?? freshRecord(this.now()))
      // Stored before a link is closed, because only the link has its last beat.
      const record = { ...found, lastBeatAtMs: this.lastBeatAtMs(found) }
      if (record.returned) await hostReturned(this.env, hostId)
      const { stage } = judgePresence(this.factsOf(record), this.now())
      if (stage === record.stage) return this.save({ ...record, returned: false })
      await this.enter(stage, hostId, this.heardAtMs(record))
      await this.save({ ...record, returned: false, stage, offlineAtMs: stage === 'OFFLINE' ? this.now() : record.offlineAtMs })
    })
  }

  private async enter(stage: PresenceStage, hostId: string, heardAtMs: number): Promise<void> {
    const db = openDatabase(this.env.DB)
    if (stage === 'SUSPECT') await hostWentAway(this.env, hostId, 'silent', heardAtMs)
    if (stage === 'OFFLINE') {
      this.links.closeAll(4003, 'no beat within the lease')
      await setHostStatus(db, hostId, 'OFFLINE', this.now())
      await hostWentAway(this.env, hostId, 'offline', heardAtMs)
    }
    if (stage === 'LOST') {
      const change = { action: 'hosts.lose', resourceKind: 'host', resourceId: hostId, before: {}, after: { lastBeatAt: heardAtMs } }
      await setHostLost(db, hostId, this.now(), auditStatement(this.env, this.now(), BY_PLATFORM, null, change))
      await hostLost(this.env, hostId, heardAtMs)
      await this.onLost(hostId)
    }
    // A suspect host gets no workloads, so placements may be waiting for its capacity.
    if (stage === 'LIVE') await hostReturned(this.env, hostId)
    if (stage !== 'LIVE') logEvent('warn', `host ${stage.toLowerCase()}`, { hostId, lastBeatAt: heardAtMs })
  }

  /** HOST-35: a link that ended without a close event, or a very late alarm, shows that the plane was away. */
  private excuseOutage(record: PresenceRecord): PresenceRecord {
    if (isGone(record.stage)) return record
    const nowMs = this.now()
    const cutUnseen = this.links.none() && record.linkClosedAtMs === null && record.countFromMs <= this.lastBeatAtMs(record)
    const dueAtMs = this.dueAtMs ?? checkDueAtMs(this.factsOf(record), record.dueAtMs)
    const late = dueAtMs !== null && planeWasAway(dueAtMs, nowMs) && this.heardAtMs(record) <= dueAtMs
    return cutUnseen || late ? { ...record, countFromMs: nowMs } : record
  }

  // Closing links runs `linkEnded` in a later turn, when the stored stage makes it do nothing.
  private async save(record: PresenceRecord): Promise<void> {
    // Dependents that wait for the host's return are notified by the next check, which is due at once.
    const nextAtMs = record.returned ? this.now() : judgePresence(this.factsOf(record), this.now()).nextAtMs
    const kept = { ...record, lastBeatAtMs: this.lastBeatAtMs(record), dueAtMs: nextAtMs }
    this.dueAtMs = nextAtMs
    if (isNews(this.record(), kept)) this.store.writeMeta(PRESENCE_KEY, JSON.stringify(kept))
    if (nextAtMs !== null) await this.alarms.repeat(PRESENCE_TIMER, Math.max(nextAtMs, this.now() + 1))
  }

  private factsOf(record: PresenceRecord): PresenceFacts {
    const { stage, linkClosedAtMs, offlineAtMs } = record
    const lostAfterMs = readSettings(this.env).hostLostAfterMs
    return { stage, heardAtMs: this.heardAtMs(record), linkClosedAtMs, offlineAtMs, lostAfterMs }
  }

  private lastBeatAtMs(record: PresenceRecord): number {
    return Math.max(record.lastBeatAtMs, this.links.lastHeardAtMs() ?? 0)
  }

  private heardAtMs(record: PresenceRecord): number {
    return Math.max(this.lastBeatAtMs(record), record.countFromMs)
  }

  private record(): PresenceRecord | null {
    const text = this.store.readMeta(PRESENCE_KEY)
    return text === null ? null : (JSON.parse(text) as PresenceRecord)
  }

  // Serialized, so that dependents are notified of absence and return in the order of the events, although notifying takes time.
  private inTurn<T>(step: () => Promise<T>): Promise<T> {
    const next = this.turn.then(step, step)
    this.turn = next.catch(() => undefined)
    return next
  }
}

function freshRecord(nowMs: number): PresenceRecord {
  const silence = { lastBeatAtMs: nowMs, countFromMs: nowMs, linkClosedAtMs: null, offlineAtMs: null }
  return { stage: 'LIVE', ...silence, dueAtMs: null, returned: false }
}

/** Whether a record differs from the stored one in more than the progress of less than a minute. */
function isNews(stored: PresenceRecord | null, next: PresenceRecord): boolean {
  if (stored === null || next.lastBeatAtMs - stored.lastBeatAtMs >= STORE_BEAT_EVERY_MS) return true
  // A beat that follows an excused outage lets the next outage be excused, so it is not left in memory.
  if (isHeardSinceOutage(stored) !== isHeardSinceOutage(next)) return true
  const { lastBeatAtMs, dueAtMs } = stored
  return JSON.stringify(stored) !== JSON.stringify({ ...next, lastBeatAtMs, dueAtMs })
}

/** Whether the host has sent a beat since the last silence that was attributed to the plane. */
function isHeardSinceOutage({ lastBeatAtMs, countFromMs }: PresenceRecord): boolean {
  return countFromMs <= lastBeatAtMs
}

function isGone(stage: PresenceStage): boolean {
  return stage === 'OFFLINE' || stage === 'LOST'
}
