import { createHash } from 'node:crypto'
import type { WorkloadMount } from '../../host-protocol/messages.ts'
import { StartError } from '../runtime.ts'
import type { EngineMount, MountDriver } from './mount-driver.ts'
import type { NfsExport } from './parse-volume-flags.ts'
import { provideDirectory } from './volume-directory.ts'

/** Volumes below a directory that the operator has mounted on every host: one sub-directory a volume (HOST-54). */
export class DirectoryVolumes implements MountDriver {
  private readonly root: string
  private readonly label: string

  constructor(root: string, label: string) {
    this.root = root
    this.label = label
  }

  async provide({ id, path }: WorkloadMount): Promise<EngineMount> {
    return { Type: 'bind', Source: await provideDirectory(this.root, id, this.label), Target: path }
  }
}

/** Volumes on an NFS server, mounted by the container engine itself: one directory of the export a volume, made by the server's operator. */
export class NfsVolumes implements MountDriver {
  private readonly nfs: NfsExport

  constructor(nfs: NfsExport) {
    this.nfs = nfs
  }

  async provide({ id, path }: WorkloadMount): Promise<EngineMount> {
    const { server, directory } = this.nfs
    const device = `:${directory}/${id}`
    // The engine keeps a named volume as it was first made, so another server needs another name.
    const name = `podplane-nfs-${createHash('sha256').update(`${server}${device}`).digest('hex').slice(0, 16)}`
    const options = { type: 'nfs', o: `addr=${server},rw`, device }
    // Without `NoCopy` the first container would fill an empty volume with what its image has there.
    return {
      Type: 'volume',
      Source: name,
      Target: path,
      VolumeOptions: { NoCopy: true, Labels: {}, DriverConfig: { Name: 'local', Options: options } },
    }
  }
}

/** For a kind of volume that the operator has set up no place for. */
export class NoVolumes implements MountDriver {
  private readonly text: string

  constructor(text: string) {
    this.text = text
  }

  async provide(): Promise<EngineMount> {
    throw new StartError(this.text)
  }
}
