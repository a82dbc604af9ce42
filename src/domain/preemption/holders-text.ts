import { counted } from '../text/counted.ts'
import { type CapacityHolder, type CapacityOffer, mayGo } from './offers.ts'
import type { CapacitySearch, HeldCapacity } from './plan-preemption.ts'

/**
 * Describes the workloads that hold the capacity an account needs: its own endpoints by name, those of others only counted (PREEMPT-6).
 * Pure.
 */

/** The facts from which the holders of capacity are described. */
export interface HoldersView extends Pick<CapacitySearch, 'teamId' | 'request' | 'allocations' | 'offers'> {
  /** The endpoint that needs capacity. */
  endpointId: string
  /** Names of the account's endpoints. */
  names: ReadonlyMap<string, string>
}

/** Upper bound of own endpoints that the text names. */
const MAX_NAMED = 3

/** Text about the workloads that hold the needed capacity; null if there are none. */
export function describeHolders(view: HoldersView): string | null {
  const { teamId, allocations } = view
  const own = allocations.filter((allocation) => allocation.teamId === teamId)
  const byEndpoint = [...Map.groupBy(own.filter(isWorker), ({ ownerId }) => ownerId)]
  const others = allocations.filter((allocation) => allocation.teamId !== teamId)
  const pods = own.filter((allocation) => !isWorker(allocation))
  const parts = [
    ...byEndpoint.slice(0, MAX_NAMED).map(([id, held]) => heldBy(view, held, endpointText(view, id, held))),
    ...moreEndpoints(view, byEndpoint.slice(MAX_NAMED)),
    ...(pods.length > 0 ? [heldBy(view, pods, `${counted(pods.length, 'pod')} of yours`)] : []),
  ]
  if (others.length > 0) parts.push(othersText(others, parts.length > 0))
  return parts.length === 0 ? null : parts.join('; ')
}

function heldBy({ request }: HoldersView, held: readonly HeldCapacity[], holder: string): string {
  const wantsGpu = request.shapes.some(({ gpu }) => gpu !== null)
  const amount = held.reduce((sum, { gpu, vcpus }) => sum + (wantsGpu ? (gpu?.count ?? 0) : vcpus), 0)
  return `${counted(amount, wantsGpu ? 'GPU' : 'vCPU')} ${amount === 1 ? 'is' : 'are'} held by ${holder}`
}

function endpointText({ endpointId, names, offers }: HoldersView, id: string, held: readonly HeldCapacity[]): string {
  const offer = offers.get(id)
  const name = id === endpointId ? 'this endpoint' : `your endpoint "${names.get(id) ?? id}"`
  return `${name} (${offer ? usesText(offer, held) : counted(held.length, 'worker')})`
}

function usesText(offer: CapacityOffer, held: readonly HeldCapacity[]): string {
  const ids = new Set(held.map(({ id }) => id))
  const holders = offer.holders.filter(({ workerId }) => ids.has(workerId))
  const idle = holders.filter(({ use }) => use === 'idle').sort((a, b) => b.idleMs - a.idleMs)
  const used = (use: CapacityHolder['use'], text: string) => {
    const some = holders.filter((holder) => holder.use === use).length
    return some === 0 ? [] : [`${counted(some, 'worker')} ${text}`]
  }
  const kept = idle.length - Math.min(idle.length, offer.spare)
  const texts = [
    ...used('working', 'at work'),
    ...used('starting', 'starting'),
    ...used('leaving', 'leaving'),
    ...used('stuck', 'that did not stop in time'),
    ...spareText(offer, idle.slice(0, offer.spare)),
    ...(kept > 0 ? [`${counted(kept, 'idle worker')} kept for ${offer.keptFor}`] : []),
  ]
  // Workers that have left since the allocations were read are not among the holders.
  return texts.join(', ') || counted(held.length, 'worker')
}

function spareText(offer: CapacityOffer, spare: readonly CapacityHolder[]): string[] {
  const waiting = spare.filter((holder) => !mayGo(holder, offer))
  const useless = spare.length - waiting.length
  const waitMs = Math.max(0, ...waiting.map(({ idleMs }) => offer.pauseMs - idleMs))
  return [
    ...(waiting.length > 0 ? [`${counted(waiting.length, 'idle worker')}, can be preempted in ${Math.ceil(waitMs / 1000)} s`] : []),
    ...(useless > 0 ? [`${counted(useless, 'idle worker')} with too little capacity`] : []),
  ]
}

function moreEndpoints(view: HoldersView, more: readonly (readonly [string, HeldCapacity[]])[]): string[] {
  if (more.length === 0) return []
  const held = more.flatMap(([, some]) => some)
  return [heldBy(view, held, `${counted(more.length, 'more endpoint')} of yours`)]
}

function othersText(others: readonly HeldCapacity[], isRest: boolean): string {
  const workers = others.filter(isWorker).length
  const pods = others.length - workers
  const holders = [...(workers > 0 ? [counted(workers, 'worker')] : []), ...(pods > 0 ? [counted(pods, 'pod')] : [])].join(' and ')
  return `${isRest ? 'the rest' : 'the room'} is held by ${holders} of other accounts`
}

/** Whether capacity is held by a worker. */
export function isWorker({ kind }: HeldCapacity): boolean {
  return kind === 'worker'
}
