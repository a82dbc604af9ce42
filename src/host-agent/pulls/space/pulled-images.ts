import { join } from 'node:path'
import { z } from 'zod'
import { readJsonFile, writeJsonFile } from '../../../node/json-file.ts'
import type { Layer } from '../layers/fetch-layer.ts'

/** An image used within this time is not removed: a container that would protect it may be about to be created. */
export const FRESH_MS = 60_000
/** Resolution of the stored time of last use: each update writes the whole file. */
const USE_STEP_MS = 30_000
/**
 * Maximum number of references, places and accounts stored for one image; a dropped reference or place only costs a request to its
 * registry.
 */
const REMEMBERED_MAX = 16

const LayerRecord: z.ZodType<Layer> = z.object({
  digest: z.string(),
  diffId: z.string(),
  packedBytes: z.number(),
  unpackedBytes: z.number(),
})
const PulledImage = z.object({
  /** Digest of its manifest, which names it in the engine's store. */
  digest: z.string(),
  /** References under which a registry served it without a login: every tenant that asks for one may have the image. */
  publicTexts: z.array(z.string()),
  /** `host/repository` of each repository that has served all of it. */
  places: z.array(z.string()),
  layers: z.array(LayerRecord),
  usedAtMs: z.number(),
  /** Accounts that have started from it, the latest first. */
  usedBy: z.array(z.string()).default([]),
})
export type PulledImage = z.infer<typeof PulledImage>

/**
 * Record of the images that this agent has pulled into the engine's store and their sources (HOST-98). Tenants get no other image of that
 * store.
 */
export class PulledImages {
  private readonly path: string
  private readonly images: Map<string, PulledImage>
  /** Digests of images that are being loaded into the engine. */
  private readonly loading: string[] = []

  constructor(stateDir: string) {
    this.path = join(stateDir, 'images.json')
    const known = z.array(PulledImage).safeParse(readJsonFile(this.path)).data ?? []
    this.images = new Map(known.map((image) => [image.digest, image]))
  }

  all(): PulledImage[] {
    return [...this.images.values()]
  }

  get(digest: string): PulledImage | undefined {
    return this.images.get(digest)
  }

  /** Returns the image that every tenant may have under this reference. */
  findPublic(text: string): PulledImage | undefined {
    return this.all().find(({ publicTexts }) => publicTexts.includes(text))
  }

  /**
   * Returns the layers that a registry has served in full, by digest: its later statements about them can be trusted, those of other
   * registries cannot.
   */
  layersFrom(host: string): Map<string, Layer> {
    const given = this.all().filter(({ places }) => places.some((place) => place.startsWith(`${host}/`)))
    return new Map(given.flatMap(({ layers }) => layers.map((layer) => [layer.digest, layer])))
  }

  /** Returns the unpacked size of each layer in the engine's store, by the digest of its uncompressed archive. */
  layerBytes(): Map<string, number> {
    const bytes = new Map<string, number>()
    for (const { diffId, unpackedBytes } of this.all().flatMap(({ layers }) => layers)) {
      bytes.set(diffId, Math.max(unpackedBytes, bytes.get(diffId) ?? 0))
    }
    return bytes
  }

  /** Returns the bytes of all layers, each counted once. */
  usedBytes(): number {
    const known = this.layerBytes()
    return bytesOf(known.keys(), known)
  }

  /** Records an image. Throws when the file cannot be written: an unrecorded image is never removed. */
  add(digest: string, layers: readonly Layer[], nowMs: number): void {
    const known = this.images.get(digest)
    this.put({ publicTexts: [], places: [], usedBy: [], ...known, digest, layers: [...layers], usedAtMs: nowMs })
  }

  /** Records that a registry has served an image under this reference. */
  noteGiven(digest: string, { place, publicText }: { place: string; publicText: string | undefined }): void {
    const image = this.images.get(digest)
    if (image === undefined) return
    // The tag may have pointed to another image before.
    for (const other of this.all()) {
      const publicTexts = other.publicTexts.filter((text) => text !== publicText)
      if (publicText !== undefined && publicTexts.length < other.publicTexts.length)
        this.images.set(other.digest, { ...other, publicTexts })
    }
    const { publicTexts, places } = this.images.get(digest) ?? image
    this.put({ ...image, places: remember(places, place), publicTexts: publicText ? remember(publicTexts, publicText) : publicTexts })
  }

  noteUse(digest: string, account: string, nowMs: number): void {
    const image = this.images.get(digest)
    if (image === undefined || (nowMs < image.usedAtMs + USE_STEP_MS && image.usedBy.includes(account))) return
    this.put({ ...image, usedAtMs: nowMs, usedBy: remember(image.usedBy, account) })
  }

  /**
   * Runs `load`; meanwhile the image does not count as lost although the engine lacks it. A failed load may still have stored the image
   * (HOST-102).
   */
  async whileLoading(digest: string, load: () => Promise<void>): Promise<void> {
    this.loading.push(digest)
    try {
      await load()
    } finally {
      this.loading.splice(this.loading.indexOf(digest), 1)
    }
  }

  discard(digest: string): void {
    if (this.images.delete(digest)) this.save()
  }

  /** Forgets an image that the engine lacks, unless its record has changed or it is being loaded. */
  dropLost(image: PulledImage): void {
    if (this.images.get(image.digest) === image && !this.loading.includes(image.digest)) this.discard(image.digest)
  }

  private put(image: PulledImage): void {
    const before = this.images.get(image.digest)
    this.images.set(image.digest, image)
    try {
      this.save()
    } catch (error) {
      if (before === undefined) this.images.delete(image.digest)
      else this.images.set(image.digest, before)
      throw error
    }
  }

  private save(): void {
    writeJsonFile(this.path, this.all())
  }
}

function remember(known: readonly string[], text: string): string[] {
  return [text, ...known.filter((other) => other !== text)].slice(0, REMEMBERED_MAX)
}

/** Returns the bytes of layers, each counted once. Layers that were not pulled do not count. */
export function bytesOf(layers: Iterable<string>, known: ReadonlyMap<string, number>): number {
  return [...new Set(layers)].reduce((sum, diffId) => sum + (known.get(diffId) ?? 0), 0)
}
