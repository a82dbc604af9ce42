import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { LayerFile, SavedImage } from '../engine/engine.ts'
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
/** Layers that come at the same time. */
const PARALLEL_FETCHES = 3
const PARALLEL_QUESTIONS = 8

/** What a manifest says, and what is inside of the layers that it names. */
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
  /** Where layers lie until the engine has them. */
  spoolDir: string
  /** How many layers of an image, from the first on, the engine's store has. */
  countKnown(diffIds: readonly string[]): Promise<number>
  load(image: SavedImage): Promise<void>
  now(): number
  signal: AbortSignal
}

/** Asks the registry for the manifest of an image, that of this machine where there are several. */
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
 * Fetches what the engine does not have of an image and what this registry has not proven to have, and loads it. A layer that lies in the
 * engine's store already is nobody's by its digest: its bytes have to come from this registry once, or from this registry for another
 * repository and the registry says that this one has it too (HOST-97).
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
      // Before it is loaded: an image that nobody remembers would never be collected.
      pulled.add(digest, layers.all(), deps.now())
      await pulled.whileLoading(digest, () => load(deps, layers, { config, digest, known }))
    })
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

/** Judges an image by what its manifest says, before anything of it comes: what is not here yet has to fit into the share of its account. */
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
    // An engine that does not share layers in this way, or that has lost them meanwhile, gets them all.
    await layers.fetch(() => true)
    await deps.load(layers.saved(config, digest, 0))
  })
}

/** An image that is here already is as good as fetched once its registry says that this repository has all of it. */
export async function requireLayers(client: RegistryClient, { manifest }: FoundImage): Promise<void> {
  const digests = [...new Set(manifest.layers.map(({ digest }) => digest))]
  await inParallel(digests, PARALLEL_QUESTIONS, (digest) => client.requireBlob(digest))
}

interface LayerContext {
  diffIds: readonly string[]
  /** Layers that this registry has given before. */
  proven: ReadonlyMap<string, Layer>
  dir: string
  /** What a single image may take unpacked. */
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

  /** Whether this registry has given the layer before, and it is what the configuration says. */
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

  /** Of the layers that were not fetched the registry has to say that this repository has them. */
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

/** What an image adds to those that are here. */
function newBytes(layers: readonly Layer[], pulled: PulledImages): number {
  const known = pulled.layerBytes()
  const added = new Map(layers.map(({ diffId, unpackedBytes }) => [diffId, unpackedBytes]))
  return [...added].reduce((sum, [diffId, bytes]) => (known.has(diffId) ? sum : sum + bytes), 0)
}

/** The first failure ends it all. */
async function inParallel<T>(items: readonly T[], width: number, act: (item: T) => Promise<void>): Promise<void> {
  const rest = [...items]
  const one = async (): Promise<void> => {
    for (let item = rest.shift(); item !== undefined; item = rest.shift()) await act(item)
  }
  const lanes = Array.from({ length: Math.min(width, items.length) }, one)
  try {
    await Promise.all(lanes)
  } finally {
    rest.length = 0
    await Promise.allSettled(lanes)
  }
}
