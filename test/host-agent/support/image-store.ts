import { readFileSync, statSync } from 'node:fs'
import type { DockerEngine, ImageFacts, SavedImage } from '../../../src/host-agent/docker/engine.ts'
import { sha256 } from './fake-registry.ts'

/** The image store of an engine in memory. It keeps layers by what lies below them, and unpacks nothing. */
export class ImageStore {
  readonly images = new Map<string, ImageFacts>()
  readonly loads: SavedImage[] = []
  /** Images that something is made of. */
  readonly inUse = new Set<string>()
  /** Whether layers that are here may be left out, as not every engine has it. */
  sharesLayers = true
  onLoad: () => Promise<void> = async () => {}

  get engine(): DockerEngine {
    const engine: Pick<DockerEngine, 'imageFacts' | 'load' | 'removeImage'> = {
      imageFacts: async (name) => this.images.get(name),
      load: (image) => this.load(image),
      removeImage: async (name) => {
        if (!this.inUse.has(name)) this.images.delete(name)
      },
    }
    return engine as DockerEngine
  }

  private async load(image: SavedImage): Promise<void> {
    this.loads.push(image)
    await this.onLoad()
    const config = Buffer.from(image.config, 'base64')
    const layers: string[] = JSON.parse(config.toString()).rootfs.diff_ids
    for (const [index, layer] of image.layers.entries()) {
      const chain = layers.slice(0, index + 1).join()
      const isHere = this.sharesLayers && [...this.images.values()].some((other) => other.layers.slice(0, index + 1).join() === chain)
      if (layer === null && !isHere) throw new Error('no such layer')
      if (layer !== null && statSync(layer.path).size !== layer.bytes) throw new Error('a file of another size')
      if (layer !== null) readFileSync(layer.path)
    }
    this.images.set(image.tag, { id: sha256(config), names: [image.tag], layers })
  }
}
