import type { AgentOptions } from '../options.ts'
import type { MountDriver, MountDrivers } from './mount-driver.ts'
import type { PersistentVolumes } from './persistent-volumes.ts'
import { DirectoryVolumes, type HeldVolumes, NfsVolumes, NoVolumes } from './shared-volumes.ts'

type VolumeFlags = Pick<AgentOptions, 'networkVolumes' | 'globalVolumes'>

/** The drivers that the operator has set up with flags. */
export function buildMountDrivers(options: VolumeFlags, persistent: PersistentVolumes, held: HeldVolumes): MountDrivers {
  return { persistent, network: networkDriver(options.networkVolumes, held), global: globalDriver(options.globalVolumes, held) }
}

/** Kinds of shared volumes that the operator has set up on this host (HOST-54). */
export function sharedVolumesOf({ networkVolumes, globalVolumes }: VolumeFlags): ('network' | 'global')[] {
  return [...(networkVolumes === undefined ? [] : (['network'] as const)), ...(globalVolumes === undefined ? [] : (['global'] as const))]
}

function networkDriver(place: AgentOptions['networkVolumes'], held: HeldVolumes): MountDriver {
  if (place === undefined) return new NoVolumes('this host offers no network volumes; start its agent with --network-volumes')
  if (typeof place !== 'string') return new NfsVolumes(place)
  return new DirectoryVolumes({ root: place, label: 'the network volume directory', owner: held.owner }, held)
}

function globalDriver(place: AgentOptions['globalVolumes'], held: HeldVolumes): MountDriver {
  if (place === undefined) return new NoVolumes('this host offers no global volumes; start its agent with --global-volumes')
  return new DirectoryVolumes({ root: place, label: 'the global volume directory', owner: held.owner }, held)
}
