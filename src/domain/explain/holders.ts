import type { PlacementHost } from '../host/placement.ts'
import { type Resources, released } from '../host/resources.ts'
import type { Needs } from './means.ts'
import { type Advice, ownOption, priced } from './option.ts'
import type { Fit } from './search.ts'

/** Resources that an account itself holds, and requests that fit once one of them is released (WHY-14, WHY-15). Pure. */

/** A pod of the account that may be stopped, or a worker of the account that leaves by itself. The disks of a stopped pod stay allocated. */
export interface Holder extends Resources {
  kind: 'POD' | 'WORKER'
  id: string
  /** Name of the pod, or of the worker's endpoint. */
  name: string
  hostId: string
  /** Saved cost, nano-USD per hour. */
  savesNanosPerHour: number
  /** Of a worker: time until it leaves. */
  leavesInMs: number | null
}

/** A holder whose release makes the request fit. */
interface Room {
  holder: Holder
  fit: Fit
}

/** Maximum number of holders that are tried, the first ones, so that a search is bounded (WHY-9). */
const MAX_TRIED = 100
/** Maximum number of stops in one answer; those that save the least come first. */
const MAX_STOPS = 2

/**
 * Pods to stop, and the worker to wait for; each alone makes the request fit. `probe`: whether the request fits on a host, by the rules
 * that place it; it fits on no host in its present state.
 */
export function holderAdvice(
  holders: readonly Holder[],
  hosts: readonly PlacementHost[],
  probe: (host: PlacementHost) => Fit | null,
  asked: Needs,
): Advice[] {
  const byId = new Map(hosts.map((host) => [host.id, host]))
  const rooms = holders.slice(0, MAX_TRIED).flatMap((holder): Room[] => {
    const host = byId.get(holder.hostId)
    const fit = host ? probe(released(host, holder)) : null
    return fit ? [{ holder, fit }] : []
  })
  const stops = rooms.filter(({ holder }) => holder.kind === 'POD').toSorted((a, b) => saved(a) - saved(b))
  const waits = rooms.filter(({ holder }) => holder.leavesInMs !== null).toSorted((a, b) => leaving(a) - leaving(b))
  return [...waits.slice(0, 1).map((room) => toWait(room, asked)), ...stops.slice(0, MAX_STOPS).map((room) => toStop(room, asked))]
}

function saved({ holder }: Room): number {
  return holder.savesNanosPerHour
}

function leaving({ holder }: Room): number {
  return holder.leavesInMs ?? 0
}

function toStop({ holder, fit }: Room, asked: Needs): Advice {
  const { id, name, savesNanosPerHour } = holder
  const call = { method: 'POST' as const, path: `/v2/pods/${id}/action`, body: { action: 'stop' } }
  const one = { kind: 'STOP' as const, summary: `stop your pod ${name}`, nanosPerHour: fit.nanosPerHour }
  const loses = 'Its container stops and its ports close. Its disks are kept, and it can start again when its machine has capacity.'
  return {
    option: { ...ownOption(one, asked.nanosPerHour + savesNanosPerHour, call), loses },
    hostIds: fit.hostIds,
    needs: { ...asked, nanosPerHour: fit.nanosPerHour - savesNanosPerHour, gpus: asked.gpus - (holder.gpu?.count ?? 0) },
  }
}

function toWait({ holder, fit }: Room, asked: Needs): Advice {
  const option = {
    kind: 'WAIT' as const,
    summary: `wait until an idle worker of your endpoint ${holder.name} stops`,
    who: 'YOU' as const,
    call: null,
    ...priced(fit.nanosPerHour, asked.nanosPerHour),
    waitSeconds: Math.ceil((holder.leavesInMs ?? 0) / 1000),
  }
  return { option, hostIds: fit.hostIds, needs: { ...asked, nanosPerHour: fit.nanosPerHour } }
}
