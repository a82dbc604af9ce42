import type { PlacementHost } from '../host/placement.ts'
import { type Advice, ownOption, priced } from './option.ts'
import type { Fit } from './search.ts'

/** What an account itself holds, and what fits once one of it is gone (WHY-14, WHY-15). Pure. */

/** A pod of the account that may be stopped, or a worker of it that leaves by itself. */
export interface Holder {
  kind: 'POD' | 'WORKER'
  id: string
  /** Of the pod, or of the endpoint. */
  name: string
  hostId: string
  gpu: { typeId: string; count: number } | null
  vcpus: number
  memoryMb: number
  /** What is given back of it: the disks of a stopped pod are kept. */
  diskGb: number
  /** What the account no longer pays. */
  savesNanosPerHour: number
  /** Of a worker: in how long. */
  leavesInMs: number | null
}

/** Something that fits once a holder is gone. */
interface Room {
  holder: Holder
  fit: Fit
}

/** What is asked for, against which an option is priced. */
interface Asked {
  nanosPerHour: number
  gpus: number
  pods: number
}

/** Holders that are tried: the first of these, so that a search is bounded (WHY-9). */
const MAX_TRIED = 100
/** Stops of one answer: those that end the least. */
const MAX_STOPS = 2

/**
 * The pods to stop, and the worker to wait for, each of which alone makes room. `trial`: whether what is asked for fits on this host, by the rules
 * that place it; it fits on none as they are.
 */
export function holderAdvice(
  holders: readonly Holder[],
  hosts: readonly PlacementHost[],
  trial: (host: PlacementHost) => Fit | null,
  asked: Asked,
): Advice[] {
  const byId = new Map(hosts.map((host) => [host.id, host]))
  const rooms = holders.slice(0, MAX_TRIED).flatMap((holder): Room[] => {
    const host = byId.get(holder.hostId)
    const fit = host ? trial(without(host, holder)) : null
    return fit ? [{ holder, fit }] : []
  })
  const stops = rooms.filter(({ holder }) => holder.kind === 'POD').toSorted((a, b) => saved(a) - saved(b))
  const waits = rooms.filter(({ holder }) => holder.leavesInMs !== null).toSorted((a, b) => leaving(a) - leaving(b))
  return [...waits.slice(0, 1).map((room) => toWait(room, asked)), ...stops.slice(0, MAX_STOPS).map((room) => toStop(room, asked))]
}

/** A host once something on it is gone. */
export function without(host: PlacementHost, { gpu, vcpus, memoryMb, diskGb }: Holder): PlacementHost {
  return {
    ...host,
    vcpuFree: host.vcpuFree + vcpus,
    memoryMbFree: host.memoryMbFree + memoryMb,
    diskGbFree: host.diskGbFree + diskGb,
    gpus: host.gpus.map((one) => (one.typeId === gpu?.typeId ? { ...one, free: one.free + gpu.count } : one)),
  }
}

function saved({ holder }: Room): number {
  return holder.savesNanosPerHour
}

function leaving({ holder }: Room): number {
  return holder.leavesInMs ?? 0
}

function toStop({ holder, fit }: Room, asked: Asked): Advice {
  const { id, name, savesNanosPerHour } = holder
  const call = { method: 'POST' as const, path: `/v2/pods/${id}/action`, body: { action: 'stop' } }
  const one = { kind: 'STOP' as const, summary: `stop your pod ${name}`, nanosPerHour: fit.nanosPerHour }
  const loses = 'Its container ends and its ports close. Its disks are kept, and it can start again when its machine has room.'
  return {
    option: { ...ownOption(one, asked.nanosPerHour + savesNanosPerHour, call), loses },
    hostIds: fit.hostIds,
    needs: { ...asked, nanosPerHour: fit.nanosPerHour - savesNanosPerHour, gpus: asked.gpus - (holder.gpu?.count ?? 0) },
  }
}

function toWait({ holder, fit }: Room, asked: Asked): Advice {
  const option = {
    kind: 'WAIT' as const,
    summary: `wait until an idle worker of your endpoint ${holder.name} leaves`,
    who: 'YOU' as const,
    call: null,
    ...priced(fit.nanosPerHour, asked.nanosPerHour),
    waitSeconds: Math.ceil((holder.leavesInMs ?? 0) / 1000),
  }
  return { option, hostIds: fit.hostIds, needs: { ...asked, nanosPerHour: fit.nanosPerHour } }
}
