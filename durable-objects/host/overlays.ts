import { openDatabase } from '../../src/db/client.ts'
import { readHostOverlays } from '../../src/db/overlays/host-overlays.ts'
import { settleEnds } from '../../src/domain/overlay/ends.ts'
import { describeOverlays, type NetworkOnHost, othersConcerned } from '../../src/domain/overlay/host-overlays.ts'
import { tellHostsOfOverlays } from '../../src/effects/overlays/tell-hosts.ts'
import { type Env, readSettings } from '../../src/env.ts'
import type { Overlay } from '../../src/host-protocol/overlays.ts'
import { logEvent } from '../../src/platform/log.ts'
import type { Alarms } from '../alarms.ts'
import { LongNote } from './long-note.ts'
import type { WorkloadStore } from './workload-store.ts'

const KEY = 'overlays'
/** Timer of the host object that is about private networks across hosts. */
export const OVERLAYS_TIMER = 'overlays'
/** A word that was lost costs so long at most. */
const LOOK_EVERY_MS = 60_000

export interface HostOverlaysDeps {
  env: Env
  store: WorkloadStore
  alarms: Alarms
  now(): number
  waitUntil(promise: Promise<unknown>): void
}

/** The private networks that pods of this host are in, as their rows said when they were read last (NET-46). */
export class HostOverlays {
  private readonly deps: HostOverlaysDeps
  private readonly note: LongNote
  private reading: Promise<unknown> = Promise.resolve()

  constructor(deps: HostOverlaysDeps) {
    this.deps = deps
    this.note = new LongNote(deps.store, KEY)
  }

  /** What the host is told of them. */
  told(): Overlay[] {
    return describeOverlays(this.known(), readSettings(this.deps.env).internalDomain)
  }

  /**
   * Reads them anew. True when anything has changed, which the host is to be told. With `tellOthers` hosts that are in the same networks hear
   * that they are to look too: for whoever has changed who is in them.
   */
  refresh(hostId: string, tellOthers: boolean): Promise<boolean> {
    const next = this.reading.then(() => this.read(hostId, tellOthers))
    this.reading = next.catch(() => undefined)
    return next
  }

  /** Whether this pod is in any of them, as far as is known. */
  has(podId: string): boolean {
    return this.known().some(({ members }) => members.some((member) => member.podId === podId))
  }

  /** The look that comes by itself; true when the host is to be told. */
  async look(hostId: string): Promise<boolean> {
    const changed = await this.refresh(hostId, false)
    if (this.known().length > 0) await this.deps.alarms.set(OVERLAYS_TIMER, this.deps.now() + LOOK_EVERY_MS)
    return changed
  }

  private async read(hostId: string, tellOthers: boolean): Promise<boolean> {
    const { env, store, alarms, now, waitUntil } = this.deps
    const before = this.known()
    const { networks: after, doubts } = settleEnds(hostId, before, await readHostOverlays(openDatabase(env.DB), hostId))
    if (JSON.stringify(before) === JSON.stringify(after)) return false
    this.note.write(after.length === 0 ? '' : JSON.stringify(after))
    store.raise()
    for (const doubt of doubts)
      logEvent('warn', 'a host says the address or key of another one for its tunnels', { seenBy: hostId, ...doubt })
    if (after.length > 0) await alarms.setBy(OVERLAYS_TIMER, now() + LOOK_EVERY_MS)
    // Not waited for: two hosts that tell each other would wait for one another.
    if (tellOthers) waitUntil(tellHostsOfOverlays(env, othersConcerned(hostId, before, after)))
    return true
  }

  private known(): NetworkOnHost[] {
    const text = this.note.read()
    return text === null ? [] : (JSON.parse(text) as NetworkOnHost[])
  }
}
