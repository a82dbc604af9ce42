import {
  countWilling,
  mayGo,
  nextWillingInMs,
  offerRoom,
  type RoomAsker,
  type RoomOffer,
  rememberSeeker,
  tellSeekers,
} from '../../domain/room/give-way.ts'
import { isLive } from '../../domain/worker/worker.ts'
import { drainWorker } from '../transitions.ts'
import type { Tx } from '../tx.ts'
import { scalingInputs } from './scale.ts'

/** Idle workers that go so that work which fits nowhere else has room (PP-180 to PP-184). */

/** Workers that are to make room. */
export interface GiveWayOrder {
  asker: RoomAsker
  workerIds: string[]
}

/** Somebody looks for room: says what is held here, and remembers who asked. */
export function askRoom(tx: Tx, asker: RoomAsker): RoomOffer {
  const { meta } = tx.state
  const offer = offerOf(tx, asker.own)
  meta.setRoomSeekers(rememberSeeker(meta.roomSeekers(), asker, countWilling(offer), tx.nowMs))
  // So that the instant at which another worker may go is known.
  tx.effects.scale = true
  return offer
}

/** Sends idle workers away, all of them or none: fewer would go for nothing. Returns whether they go. */
export function giveWay(tx: Tx, { asker, workerIds }: GiveWayOrder): boolean {
  const { meta, workers, decisions } = tx.state
  const offer = offerOf(tx, asker.own)
  const willing = new Set(offer.holders.filter((holder) => mayGo(holder, offer)).map(({ workerId }) => workerId))
  if (workerIds.length > offer.spare || !workerIds.every((id) => willing.has(id))) return false
  // An account learns nothing of another one.
  const reason = asker.own ? `gave way to endpoint ${asker.endpointId}` : 'gave way to another account'
  const inputs = scalingInputs(tx)
  const current = inputs.workers.filter((w) => w.version === inputs.version && isLive(w)).length
  decisions.note({ desired: current - workerIds.length, current, start: 0, stop: workerIds, reason, nextAtMs: null }, inputs)
  for (const id of workerIds) {
    const worker = workers.get(id)
    if (worker) drainWorker(tx, worker, reason)
  }
  meta.setRoomSeekers(meta.roomSeekers().filter(({ endpointId }) => endpointId !== asker.endpointId))
  return true
}

/** Whoever looked for room is told once more workers may go than it saw. Returns when to look again although nothing happens. */
export function tellRoomSeekers(tx: Tx): number | null {
  const { meta } = tx.state
  const seekers = meta.roomSeekers()
  if (seekers.length === 0) return null
  const offers = { own: offerOf(tx, true), others: offerOf(tx, false) }
  const { told, left } = tellSeekers(seekers, (own) => countWilling(own ? offers.own : offers.others), tx.nowMs)
  for (const id of told) tx.effects.roomSeekers.add(id)
  meta.setRoomSeekers(left)
  const waitsMs = left.map(({ own }) => nextWillingInMs(own ? offers.own : offers.others)).filter((ms) => ms !== null)
  return waitsMs.length === 0 ? null : tx.nowMs + Math.min(...waitsMs)
}

function offerOf(tx: Tx, own: boolean): RoomOffer {
  return offerRoom(scalingInputs(tx), tx.state.jobs.queuedLow, own)
}
