import type { AgentOptions } from '../options.ts'
import type { MountDriver, MountDrivers } from './mount-driver.ts'
import type { PersistentVolumes } from './persistent-volumes.ts'
import { DirectoryVolumes, NfsVolumes, NoVolumes } from './shared-volumes.ts'

type VolumeFlags = Pick<AgentOptions, 'networkVolumes' | 'globalVolumes'>

/** The drivers that the operator has set up with flags. */
export function buildMountDrivers(options: VolumeFlags, persistent: PersistentVolumes): MountDrivers {
  return { persistent, network: networkDriver(options.networkVolumes), global: globalDriver(options.globalVolumes) }
}

/** Kinds of shared volumes that the operator has set up on this host (HOST-54). */
export function sharedVolumesOf({ networkVolumes, globalVolumes }: VolumeFlags): ('network' | 'global')[] {
  return [...(networkVolumes === undefined ? [] : (['network'] as const)), ...(globalVolumes === undefined ? [] : (['global'] as const))]
}

function networkDriver(place: AgentOptions['networkVolumes']): MountDriver {
  if (place === undefined) return new NoVolumes('this host offers no network volumes; start its agent with --network-volumes')
  return typeof place === 'string' ? new DirectoryVolumes(place, 'the network volume directory') : new NfsVolumes(place)
}

function globalDriver(place: AgentOptions['globalVolumes']): MountDriver {
  if (place === undefined) return new NoVolumes('this host offers no global volumes; start its agent with --global-volumes')
  return new DirectoryVolumes(place, 'the global volume directory')
}
