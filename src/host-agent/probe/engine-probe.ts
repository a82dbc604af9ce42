import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { errorText } from '../../node/fail.ts'
import type { ContainerSpec, DockerEngine } from '../engine/engine.ts'
import { EngineClientEnded, engineText } from '../engine/engine-errors.ts'
import type { Log } from '../log.ts'
import type { GuardedViews } from '../mounts/guarded-view.ts'
import { containerProfile, type ProfileFacts } from '../profile/container-profile.ts'
import { hasProbeProgram, makeProbeImage } from './probe-image.ts'

/** Capabilities that differ among container engines and apply to all containers of a host. */
export interface EngineAbilities {
  /** Whether it can limit a container's disk. */
  limitsDisk: boolean
  /** Whether it can raise a container's limits of open files and locked memory above its own. */
  raisesLimits: boolean
}

export interface EngineProbeDeps {
  engine: Pick<DockerEngine, 'create' | 'load' | 'remove' | 'removeImage' | 'start'>
  /** Facts that determine the limits of this host's containers. */
  facts: Omit<ProfileFacts, 'raisesLimits'>
  /** Containers with GPUs get higher limits. */
  hasGpus: boolean
  views: GuardedViews
  stateDir: string
  /** Distinguishes this agent from others that use the same engine. */
  key: string
  log: Log
}

type HostConfig = NonNullable<ContainerSpec['HostConfig']>

const UNLIMITED_DISK = 'disk: the container engine cannot limit what a container writes; sizes are reservations'
const OWN_LIMITS = 'limits: the container engine may not raise limits; containers have its own, of open files and locked memory'
const MISSING_MAX_CHARS = 300

/**
 * Determines the engine's capabilities with containers of the agent's own: by whether one can be created, never by error texts. A failure
 * of a tenant's container concerns that container alone (HOST-107).
 */
export class EngineProbe {
  private readonly deps: EngineProbeDeps
  private underWay: Promise<EngineAbilities> | undefined
  private found: EngineAbilities | undefined
  private failure = ''

  constructor(deps: EngineProbeDeps) {
    this.deps = deps
  }

  /** Returns the capabilities; the result is cached. Throws when they cannot be determined; the next call tries again. */
  find(): Promise<EngineAbilities> {
    this.underWay ??= this.tryOut().then(
      (abilities) => {
        this.found = abilities
        return abilities
      },
      (error: unknown) => {
        this.underWay = undefined
        this.failure = errorText(error)
        this.deps.log.error('the features of the container engine could not be determined; no container starts before that', {
          error: this.failure,
        })
        throw error
      },
    )
    return this.underWay
  }

  /** Returns the missing capabilities, described for the operator. */
  missing(): string[] {
    if (this.found === undefined) {
      return [`container engine: its features could not be determined (${this.failure}); no container starts`.slice(0, MISSING_MAX_CHARS)]
    }
    const { limitsDisk, raisesLimits } = this.found
    return [...(limitsDisk ? [] : [UNLIMITED_DISK]), ...(raisesLimits ? [] : [OWN_LIMITS])]
  }

  private get name(): string {
    return `podplane.trial-${this.deps.key}`
  }

  private get image(): string {
    return `podplane-trial:${this.deps.key}`
  }

  private async tryOut(): Promise<EngineAbilities> {
    const { engine, stateDir } = this.deps
    const dir = join(stateDir, 'trial')
    mkdirSync(join(dir, 'volume'), { recursive: true, mode: 0o700 })
    try {
      // A previous process may have left its container.
      await engine.remove(this.name)
      await engine.load(await makeProbeImage(dir, this.image), new AbortController().signal)
      const limitsDisk = await this.can('create', { StorageOpt: { size: '1G' } })
      const raisesLimits = hasProbeProgram() && (await this.can('start', this.limits(true), this.limits(false)))
      await this.checkViews(dir)
      return { limitsDisk, raisesLimits }
    } finally {
      await engine.removeImage(this.image).catch(() => {})
      rmSync(dir, { recursive: true, force: true })
    }
  }

  private limits(raisesLimits: boolean): HostConfig {
    const resources = { vcpus: 1, memoryMb: 0, diskGb: 0, gpu: this.deps.hasGpus ? { typeId: '', count: 1 } : null }
    return containerProfile(resources, { ...this.deps.facts, raisesLimits })
  }

  /** Volumes are mounted by their own paths where the engine does not see the agent's mounts (HOST-89). */
  private async checkViews(dir: string): Promise<void> {
    const { views } = this.deps
    const view = await views.of(dir).catch(() => undefined)
    if (view === dir) return
    const mount = { Type: 'bind' as const, Source: join(view ?? '', 'volume'), Target: '/volume' }
    if (view === undefined || !(await this.can('create', { Mounts: [mount] }))) views.giveUp()
  }

  /**
   * Whether a container with `wanted` works. False only if it fails, one with `otherwise` works, and `wanted` fails again: a temporary
   * failure decides nothing. Throws when both fail.
   */
  private async can(step: 'create' | 'start', wanted: HostConfig, otherwise: HostConfig = {}): Promise<boolean> {
    if ((await this.fail(step, wanted)) === undefined) return true
    const failure = await this.fail(step, otherwise)
    if (failure !== undefined) throw new Error(failure)
    return (await this.fail(step, wanted)) === undefined
  }

  /** Returns the error of a container; undefined: it worked. The container is removed in either case. */
  private async fail(step: 'create' | 'start', config: HostConfig): Promise<string | undefined> {
    const { engine } = this.deps
    const HostConfig = { ...this.limits(false), ...config, NetworkMode: 'none', LogConfig: { Type: 'none', Config: {} } }
    try {
      await engine.create(this.name, { Image: this.image, HostConfig })
      if (step === 'start') await engine.start(this.name)
      return undefined
    } catch (error) {
      if (error instanceof EngineClientEnded) throw error
      return engineText(error)
    } finally {
      await engine.remove(this.name)
    }
  }
}
