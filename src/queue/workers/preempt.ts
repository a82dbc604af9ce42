import {
  type CapacityOffer,
  countWilling,
  mayGo,
  nextWillingInMs,
  offerCapacity,
  rememberSeeker,
  type SeekingEndpoint,
  seekersToNotify,
} from '../../domain/preemption/offers.ts'
import { isLive } from '../../domain/worker/worker.ts'
import { drainWorker } from '../transitions.ts'
import type { Tx } from '../tx.ts'
import { scalingInputs } from './scale.ts'

/** Preempts idle workers so that work which fits on no host has capacity (PREEMPT-1 to PREEMPT-5). */

/** Workers to preempt, and the endpoint that searches for capacity. */
export interface PreemptOrder {
  seeker: SeekingEndpoint
  workerIds: string[]
}

/** Returns the capacity that this endpoint holds, and remembers the endpoint that searches for it. */
export function requestCapacity(tx: Tx, seeker: SeekingEndpoint): CapacityOffer {
  const { meta } = tx.state
  const offer = offerOf(tx, seeker.own)
  meta.setCapacitySeekers(rememberSeeker(meta.capacitySeekers(), seeker, countWilling(offer), tx.nowMs))
  // The next plan then includes the instant at which another worker may be preempted.
  tx.effects.scale = true
  return offer
}

/** Drains idle workers, all of them or none, because fewer would not free enough. Returns whether they are drained. */
export function preempt(tx: Tx, { seeker, workerIds }: PreemptOrder): boolean {
  const { meta, workers, decisions } = tx.state
  const offer = offerOf(tx, seeker.own)
  const willing = new Set(offer.holders.filter((holder) => mayGo(holder, offer)).map(({ workerId }) => workerId))
  if (workerIds.length > offer.spare || !workerIds.every((id) => willing.has(id))) return false
  // The reason does not identify another account.
  const reason = seeker.own ? `preempted by endpoint ${seeker.endpointId}` : 'preempted by another account'
  const inputs = scalingInputs(tx)
  const current = inputs.workers.filter((w) => w.version === inputs.version && isLive(w)).length
  decisions.note({ desired: current - workerIds.length, current, start: 0, stop: workerIds, reason, nextAtMs: null }, inputs)
  for (const id of workerIds) {
    const worker = workers.get(id)
    if (worker) drainWorker(tx, worker, reason)
  }
  meta.setCapacitySeekers(meta.capacitySeekers().filter(({ endpointId }) => endpointId !== seeker.endpointId))
  return true
}

/**
 * Notifies endpoints that searched for capacity once more workers than they saw may be preempted. Returns the time of the next check if no
 * event causes an earlier one.
 */
export function notifySeekers(tx: Tx): number | null {
  const { meta } = tx.state
  const seekers = meta.capacitySeekers()
  if (seekers.length === 0) return null
  const offers = { own: offerOf(tx, true), others: offerOf(tx, false) }
  const { notified, left } = seekersToNotify(seekers, (own) => countWilling(own ? offers.own : offers.others), tx.nowMs)
  for (const id of notified) tx.effects.capacitySeekers.add(id)
  meta.setCapacitySeekers(left)
  const waitsMs = left.map(({ own }) => nextWillingInMs(own ? offers.own : offers.others)).filter((ms) => ms !== null)
  return waitsMs.length === 0 ? null : tx.nowMs + Math.min(...waitsMs)
}

function offerOf(tx: Tx, own: boolean): CapacityOffer {
  return offerCapacity(scalingInputs(tx), tx.state.jobs.queuedLow, own)
}
