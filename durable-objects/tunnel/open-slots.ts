import type { Env } from '../../src/env.ts'
import { asPlane } from '../../src/objects/ownership/as-plane.ts'
import { endpointStub } from '../../src/objects/stubs.ts'
import { logEvent } from '../../src/platform/log.ts'
import type { SlotRef } from '../../src/rpc/host-tunnel.ts'
import type { Timers } from '../clock/timers.ts'

/** A slot is retained for four of these intervals without a renewal. */
const RENEW_MS = 15_000

/** The slots of requests that this tunnel carries: renewed at their endpoints while the requests last, then released. */
export class OpenSlots {
  private readonly env: Env
  private readonly timers: Pick<Timers, 'every'>
  private readonly onTick: () => void
  private readonly open = new Set<SlotRef>()
  private endRenewals: (() => void) | null = null

  /** `onTick`: called at every renewal, while any slot is open. */
  constructor(env: Env, timers: Pick<Timers, 'every'>, onTick: () => void) {
    this.env = env
    this.timers = timers
    this.onTick = onTick
  }

  enter(slot: SlotRef): void {
    this.open.add(slot)
    this.endRenewals ??= this.timers.every(RENEW_MS, () => this.renew())
  }

  /** Releases a slot. If the call fails, the endpoint releases it a minute later. */
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
        .catch((error: unknown) => logEvent('warn', 'slots could not be stored', { endpointId, error }))
    }
  }

  private stub(endpointId: string) {
    return endpointStub(this.env, asPlane('endpoint', endpointId, 'forwards a request'))
  }
}
