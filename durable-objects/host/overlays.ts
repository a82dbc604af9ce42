import { openDatabase } from '../../src/db/client.ts'
import { readHostOverlays } from '../../src/db/overlays/overlay-rows.ts'
import { resolveTunnelEnds } from '../../src/domain/overlay/ends.ts'
import { describeOverlays, type NetworkOnHost, othersConcerned } from '../../src/domain/overlay/networks-on-host.ts'
import { notifyHostsOfOverlays } from '../../src/effects/overlays/notify-hosts.ts'
import { type Env, readSettings } from '../../src/env.ts'
import type { Overlay } from '../../src/host-protocol/overlays.ts'
import { logEvent } from '../../src/platform/log.ts'
import type { Alarms } from '../alarms.ts'
import { LongNote } from './long-note.ts'
import type { WorkloadStore } from './workload-store.ts'

const KEY = 'overlays'
/** Timer of the host object for private networks across hosts. */
export const OVERLAYS_TIMER = 'overlays'
/** Interval of refreshes, which bounds the delay after a lost notification. */
const REFRESH_EVERY_MS = 60_000

export interface DesiredOverlaysDeps {
  env: Env
  store: WorkloadStore
  alarms: Alarms
  now(): number
  waitUntil(promise: Promise<unknown>): void
}

/** The private networks of this host's pods, as last read from D1 (NET-46). */
export class DesiredOverlays {
  private readonly deps: DesiredOverlaysDeps
  private readonly note: LongNote
  private reading: Promise<unknown> = Promise.resolve()

  constructor(deps: DesiredOverlaysDeps) {
    this.deps = deps
    this.note = new LongNote(deps.store, KEY)
  }

  /** The networks in the form that the host receives. */
  current(): Overlay[] {
    return describeOverlays(this.known(), readSettings(this.deps.env).internalDomain)
  }

  /**
   * Reads the networks from D1. True when they changed and must be sent to the host. `notifyOthers`: also notifies the other hosts of the
   * networks, for a caller that has changed their members.
   */
  refresh(hostId: string, notifyOthers: boolean): Promise<boolean> {
    const next = this.reading.then(() => this.read(hostId, notifyOthers))
    this.reading = next.catch(() => undefined)
    return next
  }

  /** Whether this pod is in one of the networks, as last read. */
  has(podId: string): boolean {
    return this.known().some(({ members }) => members.some((member) => member.podId === podId))
  }

  /** The periodic refresh; true when the host must be sent the networks. */
  async check(hostId: string): Promise<boolean> {
    const changed = await this.refresh(hostId, false)
    if (this.known().length > 0) await this.deps.alarms.set(OVERLAYS_TIMER, this.deps.now() + REFRESH_EVERY_MS)
    return changed
  }

  private async read(hostId: string, notifyOthers: boolean): Promise<boolean> {
    const { env, store, alarms, now, waitUntil } = this.deps
    const before = this.known()
    const { networks: after, doubts } = resolveTunnelEnds(hostId, before, await readHostOverlays(openDatabase(env.DB), hostId))
    if (JSON.stringify(before) === JSON.stringify(after)) return false
    this.note.write(after.length === 0 ? '' : JSON.stringify(after))
    store.raise()
    for (const doubt of doubts) logEvent('warn', 'a host reports the tunnel address or key of another host', { seenBy: hostId, ...doubt })
    if (after.length > 0) await alarms.setBy(OVERLAYS_TIMER, now() + REFRESH_EVERY_MS)
    // Not awaited: two hosts that notify each other would wait for one another.
    if (notifyOthers) waitUntil(notifyHostsOfOverlays(env, othersConcerned(hostId, before, after)))
    return true
  }

  private known(): NetworkOnHost[] {
    const text = this.note.read()
    return text === null ? [] : (JSON.parse(text) as NetworkOnHost[])
  }
}
