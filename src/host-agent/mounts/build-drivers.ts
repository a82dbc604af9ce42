import type { SharedStorage } from '../volumes/volume-flags.ts'
import type { MountDriver, MountDrivers } from './mount-driver.ts'
import type { PersistentVolumes } from './persistent-volumes.ts'
import { bucketVolumes, DirectoryVolumes, type HeldVolumes, nfsVolumes, noVolumes } from './shared-volumes.ts'

/** The mount drivers that the operator's flags configure. */
export function buildMountDrivers(options: SharedStorage, persistent: PersistentVolumes, held: HeldVolumes): MountDrivers {
  return { persistent, network: networkDriver(options.networkVolumes, held), global: globalDriver(options.globalVolumes, held) }
}

/**
 * Kinds of shared volumes that the operator has configured on this host (HOST-54); a bucket counts only where this machine can mount one.
 */
export function sharedVolumesOf({ networkVolumes, globalVolumes }: SharedStorage, canMount = false): ('network' | 'global')[] {
  return [
    ...(networkVolumes === undefined ? [] : (['network'] as const)),
    ...(globalVolumes === undefined || (typeof globalVolumes !== 'string' && !canMount) ? [] : (['global'] as const)),
  ]
}

function networkDriver(place: SharedStorage['networkVolumes'], held: HeldVolumes): MountDriver {
  if (place === undefined) return noVolumes('this host offers no network volumes; start its agent with --network-volumes')
  if (typeof place !== 'string') return nfsVolumes(place)
  return new DirectoryVolumes({ root: place, label: 'the network volume directory', owner: held.owner }, held)
}

function globalDriver(place: SharedStorage['globalVolumes'], held: HeldVolumes): MountDriver {
  if (place === undefined) return noVolumes('this host offers no global volumes; start its agent with --global-volumes')
  if (typeof place !== 'string')
    return held.bucket ? bucketVolumes(held.bucket, held) : noVolumes('this host cannot mount an object store; see the log of its agent')
  return new DirectoryVolumes({ root: place, label: 'the global volume directory', owner: held.owner }, held)
}
