import type { DockerEngine, EngineMount, RetainedDisk } from '../../engine/engine.ts'
import { HOST_LABEL } from '../../engine/labels.ts'
import { startRefused } from '../engine/failure-text.ts'
import { DISK_REPOSITORY } from '../engine/image-names.ts'
import { containerName } from './container-spec.ts'

/** Storage drivers refuse images of more than about 125 layers, and each stop and start adds one. */
const LAYERS_MAX = 100

/** Passes the writable layer of an ended container on to its successor, as an image on this machine only (HOST-52). */
export class ContainerDisks {
  private readonly engine: DockerEngine
  private readonly hostId: string
  private readonly layersMax: number

  constructor(engine: DockerEngine, hostId: string, layersMax = LAYERS_MAX) {
    this.engine = engine
    this.hostId = hostId
    this.layersMax = layersMax
  }

  /**
   * Makes the disk of `previousId` available to `id`. The previous container stays unchanged. Safe to repeat. Throws a `StartError` when
   * the engine cannot store the disk.
   */
  async handOn(previousId: string, id: string): Promise<RetainedDisk> {
    const previous = containerName(previousId)
    const image = { repository: DISK_REPOSITORY, tag: id, label: `${HOST_LABEL}=${this.hostId}` }
    try {
      const flat = (await this.engine.countLayers(previous)) >= this.layersMax
      const config = flat ? await this.engine.flatten(previous, image) : await this.engine.commit(previous, image).then(() => ({}))
      const volumes = (await this.engine.inspect(previous))?.anonymousVolumes ?? []
      const mounts = volumes.map(({ name, path }): EngineMount => ({ Type: 'volume', Source: name, Target: path }))
      return { image: diskImage(id), config, mounts }
    } catch (error) {
      await this.drop(id)
      throw startRefused(error, {}, 'the container disk could not be stored')
    }
  }

  /** Removes the disk image of a workload; layers that its container uses stay until the container is removed. */
  async drop(id: string): Promise<void> {
    await this.engine.removeImage(diskImage(id)).catch(() => {})
  }

  /** Removes disk images that no container uses, because the agent was interrupted. */
  async sweep(): Promise<void> {
    for (const image of await this.engine.listImages(`${HOST_LABEL}=${this.hostId}`)) {
      const id = image.startsWith(`${DISK_REPOSITORY}:`) ? image.slice(DISK_REPOSITORY.length + 1) : undefined
      const isDisk = id !== undefined || image.startsWith('sha256:')
      const isUsed = id !== undefined && (await this.engine.inspect(containerName(id))) !== undefined
      if (isDisk && !isUsed) await this.engine.removeImage(image).catch(() => {})
    }
  }
}

function diskImage(id: string): string {
  return `${DISK_REPOSITORY}:${id}`
}
