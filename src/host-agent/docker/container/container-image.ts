import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Workload } from '../../../host-protocol/messages.ts'
import type { DockerEngine, ImageFacts } from '../../engine/engine.ts'
import { engineText } from '../../engine/engine-errors.ts'
import { HOST_LABEL } from '../../engine/labels.ts'
import type { Log } from '../../log.ts'
import type { AllowedRegistries } from '../../pulls/allowed-registries.ts'
import { Egress } from '../../pulls/egress.ts'
import { digestOfName, PULLED_REPOSITORY, pulledName } from '../../pulls/names.ts'
import { PullError, tooLong } from '../../pulls/pull-error.ts'
import { type FoundImage, fetchImage, findImage, requireLayers } from '../../pulls/pull-image.ts'
import { type LeastSpeed, PullPace } from '../../pulls/pull-pace.ts'
import { parseReference, type Reference } from '../../pulls/reference.ts'
import { RegistryClient } from '../../pulls/registry-client.ts'
import { recallImages } from '../../pulls/space/held-images.ts'
import { ImageShares, type ImageUse } from '../../pulls/space/image-shares.ts'
import { ImageSpace } from '../../pulls/space/image-space.ts'
import { type PulledImage, PulledImages } from '../../pulls/space/pulled-images.ts'
import { Stalls } from '../../pulls/stalls.ts'
import { StartError, type StartHooks } from '../../runtime.ts'
import { Slots } from '../../slots.ts'
import { DISK_REPOSITORY, isNamed, repositoryOf } from '../engine/image-names.ts'
import { payerByLabels, payerOf } from './container-spec.ts'

/** Repositories of the agent's own: their images belong to single tenants. */
const RESERVED: readonly string[] = [DISK_REPOSITORY, PULLED_REPOSITORY]

/** Concurrent pulls of one account; further ones wait and take nothing from other accounts. */
const PULLS_PER_ACCOUNT = 4

/** Time limit of a pull from the request on, including the wait for its turn; then the start fails and frees the GPUs that it holds. */
const PULL_MAX_MS = 2 * 3_600_000

/** Image settings from the operator's flags. */
export interface ImagePolicy {
  allowed: AllowedRegistries
  /** Whether every tenant may run the images that the operator has put into the engine's store (HOST-98). */
  localImages: boolean
  /** Disk space for all images of this host, bytes. */
  maxBytes: number
  /** Minimum speed of a registry. */
  leastSpeed: LeastSpeed
  /** Whether accounts that do not trust one another share the space (HOST-101). */
  isShared(): boolean
}

export interface ContainerImagesDeps {
  engine: DockerEngine
  hostId: string
  images: ImagePolicy
  log: Log
  /** Directory of the records about pulled images, and of layers until the engine has loaded them. */
  stateDir: string
  egress?: Egress
  now?: () => number
  /** Replaces `PULL_MAX_MS`. */
  pullMaxMs?: number
}

/** The account that an image is provided for. */
interface Taker {
  account: string
  signal: AbortSignal
}

/** Provides the image of a workload, after it has checked that the workload may use it. */
export class ContainerImages {
  private readonly deps: ContainerImagesDeps
  private readonly egress: Egress
  private readonly pulled: PulledImages
  private readonly space: ImageSpace
  private readonly shares: ImageShares
  private readonly oneEach = new Slots(() => 1)
  private readonly ofAccounts = new Slots(() => PULLS_PER_ACCOUNT)
  private readonly stalls: Stalls
  private readonly spoolDir: string
  private readonly now: () => number

  constructor(deps: ContainerImagesDeps) {
    this.deps = deps
    this.now = deps.now ?? Date.now
    this.egress = deps.egress ?? new Egress(deps.images.allowed)
    this.stalls = new Stalls(this.now)
    this.pulled = new PulledImages(deps.stateDir)
    const remove = (digest: string) => this.remove(digest)
    this.space = new ImageSpace({ pulled: this.pulled, maxBytes: deps.images.maxBytes, remove, log: deps.log, now: this.now })
    const { maxBytes, isShared } = deps.images
    this.shares = new ImageShares({ pulled: this.pulled, inUse: () => this.inUse(), maxBytes, isShared, now: this.now })
    this.spoolDir = join(deps.stateDir, 'pulls')
    // Layers that a previous process had not loaded yet.
    rmSync(this.spoolDir, { recursive: true, force: true })
    mkdirSync(this.spoolDir, { recursive: true, mode: 0o700 })
  }

  /** Returns the id of the image to start from. Throws a `StartError` when it cannot be provided. */
  async provide(workload: Workload, hooks: StartHooks): Promise<string> {
    const { image } = workload
    try {
      if (RESERVED.includes(repositoryOf(image))) throw new PullError('reserved', image)
      return (await this.findHere(workload, hooks)) ?? (await this.pullInTurn(workload, hooks))
    } catch (error) {
      const { reason, detail, message } = error instanceof PullError ? error : new PullError('notStored', engineText(error))
      if (!hooks.signal.aborted) this.deps.log.warn('an image cannot be obtained', { workload: workload.id, image, reason, error: detail })
      throw new StartError(`image pull failed: ${image}: ${message}`)
    }
  }

  /** An image that needs no request to its registry: the operator's own, or one that a registry served without a login. */
  private async findHere(workload: Workload, { signal }: StartHooks): Promise<string | undefined> {
    const { image, registryAuth } = workload
    if (registryAuth !== undefined) return undefined
    if (this.deps.images.localImages) {
      const local = await this.deps.engine.imageFacts(image)
      if (local !== undefined && isNamed(image, local.names)) return local.id
    }
    const pulled = this.pulled.findPublic(parseReference(image).text)
    return pulled && (await this.use(pulled, { account: payerOf(workload), signal }))
  }

  private pullInTurn(workload: Workload, hooks: StartHooks): Promise<string> {
    hooks.onState('pulling')
    const maxMs = this.deps.pullMaxMs ?? PULL_MAX_MS
    const deadline = AbortSignal.timeout(maxMs)
    const signal = AbortSignal.any([hooks.signal, deadline])
    return this.ofAccounts
      .with(payerOf(workload), signal, () => this.pull(workload, signal))
      .catch((error: unknown) => {
        // After an abort, the error is that of the interrupted step.
        throw deadline.aborted && !hooks.signal.aborted ? tooLong(maxMs) : error
      })
  }

  private async pull(workload: Workload, inTime: AbortSignal): Promise<string> {
    const { image, registryAuth: login } = workload
    const reference = parseReference(image)
    const [account, { host }] = [payerOf(workload), reference]
    this.stalls.check(account, host)
    const pace = new PullPace(host, this.deps.images.leastSpeed)
    const signal = AbortSignal.any([inTime, pace.signal])
    this.deps.log.info('pulling an image', { image })
    const client = new RegistryClient({ egress: this.egress, reference, login, pace, signal })
    try {
      const found = await findImage(client, reference.wanted)
      // Workers of one endpoint start together: the first fetches for all of them. No pull waits for a registry that its image does not
      // name.
      return await this.oneEach.with(`${host}/${reference.repository}@${found.digest}`, signal, async () => {
        this.stalls.check(account, host)
        const id = await this.take(client, reference, found, { isPublic: login === undefined, account, signal })
        this.stalls.discard(account, host)
        return id
      })
    } catch (error) {
      if (pace.signal.aborted) this.stalls.note(account, host)
      throw error
    }
  }

  private async take(
    client: RegistryClient,
    reference: Reference,
    found: FoundImage,
    { isPublic, ...taker }: Taker & { isPublic: boolean },
  ): Promise<string> {
    const place = `${reference.host}/${reference.repository}`
    const given = { place, publicText: isPublic ? reference.text : undefined }
    const id = await this.useProven(client, reference, found, taker)
    if (id === undefined) {
      const { engine } = this.deps
      const countKnown = (diffIds: readonly string[]) => this.countKnown(diffIds)
      const load = (image: Parameters<DockerEngine['load']>[0]) => engine.load(image, taker.signal)
      const { pulled, space, shares, spoolDir, now } = this
      await recallImages({ engine, pulled, now })
      await fetchImage({ client, reference, pulled, space, shares, spoolDir, countKnown, load, now, ...taker }, found)
    }
    this.pulled.noteGiven(found.digest, given)
    const image = this.pulled.get(found.digest)
    const taken = id ?? (image && (await this.use(image, taker)))
    if (taken === undefined) throw new Error(`the engine loaded ${found.digest}, but does not have it`)
    return taken
  }

  /** The id of an image that is here, if this registry has served every layer of it and confirms that this repository has them all. */
  private async useProven(client: RegistryClient, reference: Reference, found: FoundImage, taker: Taker): Promise<string | undefined> {
    const image = this.pulled.get(found.digest)
    const given = this.pulled.layersFrom(reference.host)
    const isProven = image?.layers.every(({ digest, diffId }) => given.get(digest)?.diffId === diffId)
    if (image === undefined || !isProven || image.places.length === 0) return undefined
    if (!image.places.includes(`${reference.host}/${reference.repository}`)) await requireLayers(client, found)
    return await this.use(image, taker)
  }

  /** The id of a pulled image; undefined when the engine has lost it or has another image in its place. */
  private async use({ digest, layers }: PulledImage, { account, signal }: Taker): Promise<string | undefined> {
    const facts = await this.factsOf(digest)
    const isWhole = facts?.layers.length === layers.length && facts.layers.every((diffId, index) => diffId === layers[index]?.diffId)
    if (facts === undefined || !isWhole) return undefined
    await this.shares.take(account, { digest, layers }, signal)
    this.pulled.noteUse(digest, account, this.now())
    return facts.id
  }

  private async countKnown(diffIds: readonly string[]): Promise<number> {
    const relatives = this.pulled.all().filter(({ layers }) => layers[0]?.diffId === diffIds[0])
    let most = 0
    for (const { digest } of relatives) {
      const layers = (await this.factsOf(digest))?.layers ?? []
      const different = diffIds.findIndex((diffId, index) => diffId !== layers[index])
      most = Math.max(most, different < 0 ? diffIds.length : different)
    }
    return most
  }

  /** The images under the containers of each account. */
  private async inUse(): Promise<Map<string, ImageUse>> {
    const { engine, hostId } = this.deps
    const uses = await engine.listUses(`${HOST_LABEL}=${hostId}`)
    const facts = new Map<string, ImageFacts | undefined>()
    for (const image of new Set(uses.map(({ image }) => image))) facts.set(image, await engine.imageFacts(image))
    const byAccount = Map.groupBy(uses, ({ labels }) => payerByLabels(labels) ?? '')
    return new Map([...byAccount].map(([account, own]) => [account, useOf(own.flatMap(({ image }) => facts.get(image) ?? []))]))
  }

  private factsOf(digest: string): Promise<ImageFacts | undefined> {
    return this.deps.engine.imageFacts(pulledName(digest))
  }

  private async remove(digest: string): Promise<boolean> {
    await this.deps.engine.removeImage(pulledName(digest))
    return (await this.factsOf(digest)) === undefined
  }

  close(): void {
    this.egress.close()
  }
}

function useOf(images: readonly ImageFacts[]): ImageUse {
  const names = images.flatMap((image) => image.names).filter((name) => repositoryOf(name) === PULLED_REPOSITORY)
  return { layers: images.flatMap(({ layers }) => layers), digests: names.map(digestOfName) }
}
