import type { Refusal } from '../../../contract/problems.ts'
import { countConstraints } from '../../host/constraint-text.ts'
import type { UnfitHost } from '../../host/placement.ts'
import type { MissingVolumes } from './placement.ts'

/** Maximum number of constraints that one refusal names. */
const MAX_REASONS = 16

/** POD-9. Clients match the text. */
const NO_CAPACITY = 'There are no longer any instances available with the requested specifications. Please refresh and try again.'
/** POD-17. Clients match the text, or a part of it. */
const NO_FREE_GPU = 'There are not enough free GPUs on the host machine to start this pod.'

/**
 * 400 when no host fits, with the number of hosts on which each constraint failed (POD-35, WHY-21). It names no host, because hosts are the
 * operator's concern. `missing`: kind of volume that no considered host offers; another GPU type or a retry would not help (POD-36).
 */
export function refuseCapacity(unfit: readonly UnfitHost[], missing: MissingVolumes | null = null): Refusal {
  const detail = missing ? describeMissing(missing) : NO_CAPACITY
  return { key: 'badRequest', detail, code: 'NO_CAPACITY', errors: reasonsOf(unfit) }
}

function describeMissing({ kind, dataCenterIds }: MissingVolumes): string {
  const place = dataCenterIds.length === 0 ? 'No host' : `No host in ${dataCenterIds.join(', ')}`
  return `${place} offers ${kind} volumes. Ask the operator to set them up there, or create the pod without that mount.`
}

/** 400 when the host of a stopped pod has too little free capacity to start it (POD-17). */
export function refuseStart(isGpuPod: boolean): Refusal {
  if (isGpuPod) return { key: 'badRequest', detail: NO_FREE_GPU, code: 'NO_FREE_GPU' }
  return { key: 'badRequest', detail: 'There is not enough free CPU or memory on the host machine to start this pod.', code: 'NO_CAPACITY' }
}

/** 400 when the host of a stopped pod has too little free capacity for the requested number of GPUs (GQL-37). */
export function refuseCount(has: number, asked: number): Refusal {
  const detail = `${NO_FREE_GPU} It has ${has} and was to start with ${asked}; start it with the number that it has, or create another pod.`
  return { key: 'badRequest', detail, code: 'NO_FREE_GPU' }
}

function reasonsOf(unfit: readonly UnfitHost[]): string[] {
  if (unfit.length === 0) return ['hosts: none is online']
  return countConstraints(unfit, MAX_REASONS)
}
