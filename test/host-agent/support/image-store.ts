import { createHash } from 'node:crypto'
import type { DockerEngine, ImageFacts, LayerFile, SavedImage } from '../../../src/host-agent/engine/engine.ts'
import { tarOf } from '../../../src/host-agent/pulls/layers/archive.ts'
import { sha256 } from './fake-registry.ts'

/** The image store of an engine in memory. It identifies layers by those below them, and reads no contents. */
export class ImageStore {
  readonly images = new Map<string, ImageFacts>()
  readonly loads: SavedImage[] = []
  /** Images that a container was made from. */
  readonly inUse = new Set<string>()
  /** Containers, as the engine lists them, and how often it did. */
  uses: { image: string; labels: Record<string, string> }[] = []
  listings = 0
  /** Whether present layers may be left out, which not every engine supports. */
  sharesLayers = true
  onLoad: () => Promise<void> = async () => {}
  /** Called when an image is in the store, before its loader is answered. */
  onLoaded: () => Promise<void> = async () => {}
  private readonly bytes = new Map<string, number>()

  get engine(): DockerEngine {
    const engine: Pick<DockerEngine, 'imageFacts' | 'listTags' | 'listUses' | 'load' | 'removeImage'> = {
      imageFacts: async (name) => this.images.get(name) ?? [...this.images.values()].find(({ id }) => id === name),
      listUses: async () => {
        this.listings += 1
        return this.uses
      },
      listTags: async (repository) =>
        [...this.images.entries()]
          .filter(([name]) => name.startsWith(`${repository}:`))
          .map(([name, { layers }]) => ({ name, bytes: layers.reduce((sum, diffId) => sum + (this.bytes.get(diffId) ?? 0), 0) })),
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
      if (layer !== null && (await digestOf(layer)) !== layers[index]) throw new Error('not what the configuration says')
      if (layer !== null) this.bytes.set(layer.diffId, layer.tarBytes)
    }
    this.images.set(image.tag, { id: sha256(config), names: [image.tag], layers })
    await this.onLoaded()
  }
}

/** Digest of the unpacked bytes of a layer that an engine gets. */
async function digestOf(content: LayerFile): Promise<string> {
  const hash = createHash('sha256')
  let at = -512
  for await (const piece of tarOf([{ name: 'layer', content }])) {
    hash.update(piece.subarray(Math.max(0, -at), Math.max(0, content.tarBytes - at)))
    at += piece.length
  }
  return `sha256:${hash.digest('hex')}`
}
