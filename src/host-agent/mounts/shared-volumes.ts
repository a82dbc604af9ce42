import { createHash } from 'node:crypto'
import { join } from 'node:path'
import type { WorkloadMount } from '../../host-protocol/messages.ts'
import { errorText } from '../../node/fail.ts'
import type { EngineMount } from '../engine/engine.ts'
import { StartError } from '../runtime.ts'
import type { BucketMount } from '../volumes/bucket-mount.ts'
import type { NfsExport } from '../volumes/volume-flags.ts'
import type { VolumeSizes } from '../volumes/volume-sizes.ts'
import type { GuardedViews } from './guarded-view.ts'
import type { MountDriver } from './mount-driver.ts'
import { provideDirectory, type VolumePlace } from './volume-directory.ts'

/** Settings for volumes of all kinds (HOST-89). */
export interface HeldVolumes {
  /** User and group of this machine that are root inside containers; null: root. */
  owner: VolumePlace['owner']
  views: GuardedViews
  /** Enforces the sizes of volumes; absent: nothing does. */
  sizes?: VolumeSizes
  /** The bucket of global volumes; absent: the operator named none, or this machine cannot mount one. */
  bucket?: BucketMount
}

/** Volumes in a bucket that the agent mounts: one sub-directory per volume (HOST-115). */
export function bucketVolumes(bucket: BucketMount, held: HeldVolumes): MountDriver {
  const volumes = new DirectoryVolumes({ root: bucket.path, label: 'the mounted object store', owner: null }, held)
  return {
    async provide(mount) {
      const { problem } = bucket
      if (problem !== null) throw new StartError(`the object store of global volumes cannot be used on this host: ${problem}`)
      return await volumes.provide(mount)
    },
  }
}

/** Volumes below a directory that the operator has mounted on every host: one sub-directory per volume (HOST-54). */
export class DirectoryVolumes implements MountDriver {
  private readonly place: VolumePlace
  private readonly views: GuardedViews
  private readonly sizes: VolumeSizes | undefined

  constructor(place: VolumePlace, { views, sizes }: Pick<HeldVolumes, 'views' | 'sizes'>) {
    this.place = place
    this.views = views
    this.sizes = sizes
  }

  async provide({ kind, id, path, sizeGb }: WorkloadMount): Promise<EngineMount> {
    await provideDirectory(this.place, id)
    if (kind !== 'global') await this.sizes?.prepare(kind, id, sizeGb)
    return { Type: 'bind', Source: join(await this.view(), id), Target: path }
  }

  private async view(): Promise<string> {
    try {
      return await this.views.of(this.place.root)
    } catch (error) {
      throw new StartError(`${this.place.label} of this host cannot be mounted safely`, `${this.place.root}: ${errorText(error)}`)
    }
  }
}

/**
 * Volumes on an NFS server, mounted by the container engine: one directory of the export per volume, which the operator of the server
 * creates.
 */
export function nfsVolumes({ server, directory }: NfsExport): MountDriver {
  return {
    async provide({ id, path }) {
      const device = `:${directory}/${id}`
      const options = { type: 'nfs', o: `addr=${server},rw,nosuid,nodev`, device }
      // The engine retains the settings with which a named volume was first made, so another server or other options need another name.
      const name = `podplane-nfs-${createHash('sha256').update(`${options.o}${device}`).digest('hex').slice(0, 16)}`
      // Without `NoCopy` the first container would fill an empty volume with the files of its image at that path.
      const settings = { NoCopy: true, Labels: {}, DriverConfig: { Name: 'local', Options: options } }
      return { Type: 'volume', Source: name, Target: path, VolumeOptions: settings }
    },
  }
}

/** Refuses mounts of a kind of volume that the operator has not configured. */
export function noVolumes(text: string): MountDriver {
  return { provide: () => Promise.reject(new StartError(text)) }
}
