import type { Env } from '../../src/env.ts'
import type { SlotRef } from '../../src/objects/host-tunnel.ts'
import { asPlane } from '../../src/objects/ownership/as-plane.ts'
import { endpointStub } from '../../src/objects/stubs.ts'
import { logEvent } from '../../src/platform/log.ts'
import type { Timers } from '../clock/timers.ts'

/** A place is kept for four of these without a word. */
const RENEW_MS = 15_000

/** The places of requests that are under way in this tunnel: kept at their endpoints as long as they last, and given back. */
export class OpenSlots {
  private readonly env: Env
  private readonly timers: Pick<Timers, 'every'>
  private readonly onTick: () => void
  private readonly open = new Set<SlotRef>()
  private endRenewals: (() => void) | null = null

  /** `onTick`: now and then while any is open. */
  constructor(env: Env, timers: Pick<Timers, 'every'>, onTick: () => void) {
    this.env = env
    this.timers = timers
    this.onTick = onTick
  }

  enter(slot: SlotRef): void {
    this.open.add(slot)
    this.endRenewals ??= this.timers.every(RENEW_MS, () => this.renew())
  }

  /** What cannot be said is found out by the endpoint itself, a minute later. */
  async leave(slot: SlotRef, isReached: boolean): Promise<void> {
    this.open.delete(slot)
    if (this.open.size === 0) {
      this.endRenewals?.()
      this.endRenewals = null
    }
    await this.stub(slot.endpointId)
      .releaseSlot(slot, isReached)
      .catch((error: unknown) => logEvent('warn', 'a slot could not be given back', { endpointId: slot.endpointId, error }))
  }

  private renew(): void {
    this.onTick()
    const byEndpoint = Map.groupBy(this.open, ({ endpointId }) => endpointId)
    for (const [endpointId, slots] of byEndpoint) {
      void this.stub(endpointId)
        .renewSlots(slots)
        .catch((error: unknown) => logEvent('warn', 'slots could not be kept', { endpointId, error }))
    }
  }

  private stub(endpointId: string) {
    return endpointStub(this.env, asPlane('endpoint', endpointId, 'carries a request'))
  }
}
