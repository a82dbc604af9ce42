import { join } from 'node:path'
import { z } from 'zod'
import { readJsonFile, writeJsonFile } from '../../../node/json-file.ts'
import type { Layer } from '../layers/fetch-layer.ts'

/** An image that was used so lately may be about to be started: nothing is made of it yet that would keep it. */
export const FRESH_MS = 60_000
/** How exactly the time of its last use is kept: each time is a write of the whole file. */
const USE_STEP_MS = 30_000
/** References and places that are remembered of one image; more only cost a question to their registry. */
const REMEMBERED_MAX = 16

const LayerRecord: z.ZodType<Layer> = z.object({
  digest: z.string(),
  diffId: z.string(),
  packedBytes: z.number(),
  unpackedBytes: z.number(),
})
const PulledImage = z.object({
  /** Digest of its manifest: what it goes by in the engine's store. */
  digest: z.string(),
  /** References under which a registry gave it to somebody without a login: whoever asks for one may have it. */
  publicTexts: z.array(z.string()),
  /** `host/repository` where a registry has given all of it. */
  places: z.array(z.string()),
  layers: z.array(LayerRecord),
  usedAtMs: z.number(),
  /** Accounts that have started from it, the latest first. */
  usedBy: z.array(z.string()).default([]),
})
export type PulledImage = z.infer<typeof PulledImage>

/** What this agent has pulled into the engine's store, and from where (HOST-98). Nothing else that lies there was anybody's to pull. */
export class PulledImages {
  private readonly path: string
  private readonly images: Map<string, PulledImage>
  /** Digests of images that the engine is being given. */
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

  /** The image that everybody may have under this reference. */
  findPublic(text: string): PulledImage | undefined {
    return this.all().find(({ publicTexts }) => publicTexts.includes(text))
  }

  /** Layers that a registry has given whole, by their digests: what it says of them since can be believed of it and of no other. */
  layersFrom(host: string): Map<string, Layer> {
    const given = this.all().filter(({ places }) => places.some((place) => place.startsWith(`${host}/`)))
    return new Map(given.flatMap(({ layers }) => layers.map((layer) => [layer.digest, layer])))
  }

  /** What each layer takes, by the digest of what is inside, as it lies unpacked in the engine's store. */
  layerBytes(): Map<string, number> {
    const bytes = new Map<string, number>()
    for (const { diffId, unpackedBytes } of this.all().flatMap(({ layers }) => layers)) {
      bytes.set(diffId, Math.max(unpackedBytes, bytes.get(diffId) ?? 0))
    }
    return bytes
  }

  /** Bytes of all layers, each counted once. */
  usedBytes(): number {
    return sumOf(this.layerBytes())
  }

  /** Throws when it cannot be written: an image that nobody remembers is never collected. */
  add(digest: string, layers: readonly Layer[], nowMs: number): void {
    const known = this.images.get(digest)
    this.put({ publicTexts: [], places: [], usedBy: [], ...known, digest, layers: [...layers], usedAtMs: nowMs })
  }

  /** A registry has given an image under this reference. */
  noteGiven(digest: string, { place, publicText }: { place: string; publicText: string | undefined }): void {
    const image = this.images.get(digest)
    if (image === undefined) return
    // A tag may have moved on since.
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

  /** Until it is done, an image that the engine does not have is not lost. One that fails may be there all the same (HOST-102). */
  async whileLoading(digest: string, load: () => Promise<void>): Promise<void> {
    this.loading.push(digest)
    try {
      await load()
    } finally {
      this.loading.splice(this.loading.indexOf(digest), 1)
    }
  }

  forget(digest: string): void {
    if (this.images.delete(digest)) this.save()
  }

  /** Forgets an image that the engine did not have, unless something was done with it meanwhile. */
  forgetLost(image: PulledImage): void {
    if (this.images.get(image.digest) === image && !this.loading.includes(image.digest)) this.forget(image.digest)
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

/** The bytes of some layers, each counted once; what was not pulled is not of the images' space. */
export function bytesOf(layers: Iterable<string>, known: ReadonlyMap<string, number>): number {
  return [...new Set(layers)].reduce((sum, diffId) => sum + (known.get(diffId) ?? 0), 0)
}

function sumOf(known: ReadonlyMap<string, number>): number {
  return [...known.values()].reduce((sum, bytes) => sum + bytes, 0)
}
