import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { LayerFile, SavedImage } from '../engine/engine.ts'
import { inParallel } from '../in-parallel.ts'
import { type FetchedLayer, fetchLayer, type Layer } from './layers/fetch-layer.ts'
import { type Descriptor, digestOf, type Manifest, machinePlatform, readConfig } from './manifest.ts'
import { pulledName } from './names.ts'
import { plainConfig } from './plain-config.ts'
import { overShare, PullError, tooLarge, tooMany } from './pull-error.ts'
import type { Reference } from './reference.ts'
import { type RegistryClient, readBytes } from './registry-client.ts'
import type { ImageRoom, ImageShares } from './space/image-shares.ts'
import type { ImageSpace } from './space/image-space.ts'
import type { PulledImages } from './space/pulled-images.ts'

const CONFIG_MAX_BYTES = 8 * 2 ** 20
/** Maximum number of concurrent layer downloads. */
const PARALLEL_FETCHES = 3
const PARALLEL_QUESTIONS = 8

/** A manifest and its digest. */
export interface FoundImage {
  digest: string
  manifest: Manifest
}

export interface ImageFetchDeps {
  client: RegistryClient
  reference: Reference
  pulled: PulledImages
  space: ImageSpace
  shares: ImageShares
  account: string
  /** Directory for layers until the engine has loaded them. */
  spoolDir: string
  /** Returns how many layers of an image, counted from the first, the engine's store has. */
  countKnown(diffIds: readonly string[]): Promise<number>
  load(image: SavedImage): Promise<void>
  now(): number
  signal: AbortSignal
}

/** Fetches the manifest of an image; from a list, the one for this machine. Throws a `PullError`. */
export async function findImage(client: RegistryClient, wanted: string): Promise<FoundImage> {
  const platform = machinePlatform()
  const find = async () => {
    const first = await client.manifest(wanted, platform)
    return first.document.kind === 'image' ? first : await client.manifest(first.document.digest, platform)
  }
  const found = await client.pace.during(find)
  if (found.document.kind === 'index') throw new PullError('unusable', 'a list of lists of images')
  return { digest: found.digest, manifest: found.document.manifest }
}

/**
 * Fetches the layers that the engine lacks or that this registry has not served before, and loads the image. A layer in the engine's store
 * does not belong to everyone who knows its digest: this registry must have served its bytes once, for this repository, or for another one
 * while it confirms that this repository has the layer too (HOST-97).
 */
export async function fetchImage(deps: ImageFetchDeps, { digest, manifest }: FoundImage): Promise<void> {
  const { client, pulled, space, shares, account, reference } = deps
  const room = await requireRoom(deps, digest, manifest)
  const given = await readConfigBlob(client, manifest)
  const diffIds = readConfig(given, manifest, machinePlatform())
  const config = plainConfig(given)
  const proven = pulled.layersFrom(reference.host)
  const dir = mkdtempSync(join(deps.spoolDir, 'pull-'))
  try {
    const known = await deps.countKnown(diffIds)
    await space.spooling(account, room, async (onCome) => {
      const layers = new LayerFetch(deps, manifest, { diffIds, proven, dir, maxBytes: room.maxBytes, onCome })
      await layers.fetch((index) => index >= known || !layers.isProven(index))
      await layers.requireProven()
      await shares.take(account, { digest, layers: layers.all() }, deps.signal)
      await space.makeRoom(newBytes(layers.all(), pulled), account)
      // Recorded before it is loaded: an unrecorded image would never be removed.
      pulled.add(digest, layers.all(), deps.now())
      await pulled.whileLoading(digest, () => load(deps, layers, { config, digest, known }))
    })
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

/**
 * Checks an image by its manifest before any download: the layers that are not here yet must fit into the share of its account. Throws a
 * `PullError`.
 */
async function requireRoom(
  { pulled, space, shares, account }: ImageFetchDeps,
  digest: string,
  { config, layers }: Manifest,
): Promise<ImageRoom> {
  const packed = layers.reduce((sum, { size }) => sum + size, config.size)
  if (packed > space.maxBytes) throw tooLarge('packed it has', packed, space.maxBytes)
  const room = await shares.roomOf(account, { digest })
  if (room.images > room.maxImages) throw tooMany(room.images, room.maxImages)
  const here = new Set(pulled.all().flatMap((image) => image.layers.map(({ digest }) => digest)))
  const added = new Map(layers.filter(({ digest }) => !here.has(digest)).map(({ digest, size }) => [digest, size]))
  const addedBytes = [...added.values()].reduce((sum, bytes) => sum + bytes, 0)
  if (addedBytes > room.freeBytes(0)) throw overShare(room.usedBytes + addedBytes, room.maxBytes)
  return room
}

async function load(deps: ImageFetchDeps, layers: LayerFetch, image: { config: Buffer; digest: string; known: number }): Promise<void> {
  const { config, digest, known } = image
  await deps.load(layers.saved(config, digest, known)).catch(async (error: unknown) => {
    if (known === 0 || deps.signal.aborted) throw error
    // An engine that does not share layers in this way, or has lost them meanwhile, gets all layers.
    await layers.fetch(() => true)
    await deps.load(layers.saved(config, digest, 0))
  })
}

/** For an image that is already here: its registry must confirm that this repository has all of its layers. Throws a `PullError`. */
export async function requireLayers(client: RegistryClient, { manifest }: FoundImage): Promise<void> {
  const digests = [...new Set(manifest.layers.map(({ digest }) => digest))]
  await inParallel(digests, PARALLEL_QUESTIONS, (digest) => client.requireBlob(digest))
}

interface LayerContext {
  diffIds: readonly string[]
  /** Layers that this registry has served before. */
  proven: ReadonlyMap<string, Layer>
  dir: string
  /** Maximum unpacked size of a single image. */
  maxBytes: number
  onCome(bytes: number): Promise<void>
}

class LayerFetch {
  private readonly deps: ImageFetchDeps
  private readonly manifest: Manifest
  private readonly context: LayerContext
  private readonly fetched = new Map<string, FetchedLayer>()
  private unpackedBytes = 0

  constructor(deps: ImageFetchDeps, manifest: Manifest, context: LayerContext) {
    this.deps = deps
    this.manifest = manifest
    this.context = context
  }

  /** Whether this registry has served the layer before and its contents match the configuration. */
  isProven(index: number): boolean {
    const digest = this.manifest.layers[index]?.digest ?? ''
    return this.context.proven.get(digest)?.diffId === this.context.diffIds[index]
  }

  async fetch(isWanted: (index: number) => boolean): Promise<void> {
    const wanted = new Map(this.manifest.layers.flatMap((layer, index) => (isWanted(index) ? [[layer.digest, layer]] : [])))
    const missing = [...wanted.values()].filter(({ digest }) => !this.fetched.has(digest))
    const fetchOne = async (descriptor: Descriptor) => {
      const { client, signal } = this.deps
      const { onCome: onPacked } = this.context
      const onUnpacked = (bytes: number) => this.count(bytes)
      const path = this.pathOf(descriptor.digest)
      this.fetched.set(descriptor.digest, await fetchLayer({ client, descriptor, path, onPacked, onUnpacked, signal }))
    }
    await this.deps.client.pace.during(() => inParallel(missing, PARALLEL_FETCHES, fetchOne))
    for (const [index, { digest }] of this.manifest.layers.entries()) {
      const layer = this.fetched.get(digest)?.layer
      const isOther = layer !== undefined && layer.diffId !== this.context.diffIds[index]
      if (isOther) throw new PullError('unusable', `${digest} holds something else than the configuration says`)
    }
  }

  /** For layers that were not fetched, the registry must confirm that this repository has them. Throws a `PullError`. */
  async requireProven(): Promise<void> {
    const others = this.manifest.layers.map(({ digest }) => digest).filter((digest) => !this.fetched.has(digest))
    await inParallel([...new Set(others)], PARALLEL_QUESTIONS, (digest) => this.deps.client.requireBlob(digest))
  }

  all(): Layer[] {
    return this.manifest.layers.flatMap(({ digest }) => this.fetched.get(digest)?.layer ?? this.context.proven.get(digest) ?? [])
  }

  saved(config: Buffer, digest: string, known: number): SavedImage {
    const layers = this.manifest.layers.map(({ digest }, index) => (index < known ? null : this.fileOf(digest)))
    return { config: config.toString('base64'), layers, tag: pulledName(digest) }
  }

  private fileOf(digest: string): LayerFile {
    const { layer, tarBytes } = this.fetched.get(digest) ?? {}
    if (layer === undefined || tarBytes === undefined) throw new Error(`${digest} was not fetched`)
    return { path: this.pathOf(digest), tarBytes, diffId: layer.diffId }
  }

  private pathOf(digest: string): string {
    return join(this.context.dir, digest.replace(':', '-'))
  }

  private count(bytes: number): void {
    this.unpackedBytes += bytes
    const { maxBytes } = this.context
    if (this.unpackedBytes <= maxBytes) return
    throw maxBytes < this.deps.space.maxBytes
      ? overShare(this.unpackedBytes, maxBytes)
      : tooLarge('it unpacks to more than', maxBytes, maxBytes)
  }
}

async function readConfigBlob(client: RegistryClient, { config }: Manifest): Promise<Buffer> {
  const bytes = await client.pace.during(async () => readBytes(await client.blob(config.digest, 0), CONFIG_MAX_BYTES, client.pace))
  if (digestOf(bytes) !== config.digest) throw new PullError('unusable', `what came for ${config.digest} is something else`)
  return bytes
}

/** Returns the bytes that an image adds to the stored ones. */
function newBytes(layers: readonly Layer[], pulled: PulledImages): number {
  const known = pulled.layerBytes()
  const added = new Map(layers.map(({ diffId, unpackedBytes }) => [diffId, unpackedBytes]))
  return [...added].reduce((sum, [diffId, bytes]) => (known.has(diffId) ? sum : sum + bytes), 0)
}
