import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { errorText } from '../../node/fail.ts'
import type { ContainerSpec, DockerEngine } from '../engine/engine.ts'
import { EngineClientEnded, engineText } from '../engine/engine-errors.ts'
import type { Log } from '../log.ts'
import type { GuardedViews } from '../mounts/guarded-view.ts'
import { containerProfile, type ProfileFacts } from '../profile/container-profile.ts'
import { hasTrialProgram, makeTrialImage } from './trial-image.ts'

/** What differs among container engines, and holds for every container of a host. */
export interface EngineAbilities {
  /** It can limit a container's disk. */
  limitsDisk: boolean
  /** It can give a container more than it has itself, of open files and locked memory. */
  raisesLimits: boolean
}

export interface EngineTrialDeps {
  engine: Pick<DockerEngine, 'create' | 'load' | 'remove' | 'removeImage' | 'start'>
  /** What decides how containers of this host are held. */
  facts: Omit<ProfileFacts, 'raisesLimits'>
  /** Containers with GPUs are given more. */
  hasGpus: boolean
  views: GuardedViews
  stateDir: string
  /** What tells this agent from others of the engine. */
  key: string
  log: Log
}

type HostConfig = NonNullable<ContainerSpec['HostConfig']>

const UNLIMITED_DISK = 'disk: the container engine cannot limit what a container writes; sizes are reservations'
const OWN_LIMITS = 'limits: the container engine may not raise limits; containers have its own, of open files and locked memory'
const MISSING_MAX_CHARS = 300

/**
 * Finds out what the container engine can do for every container, with containers of the agent's own: by whether one comes to be, and never by
 * words. What a tenant's container meets is that container's alone (HOST-107).
 */
export class EngineTrial {
  private readonly deps: EngineTrialDeps
  private underWay: Promise<EngineAbilities> | undefined
  private found: EngineAbilities | undefined
  private failure = ''

  constructor(deps: EngineTrialDeps) {
    this.deps = deps
  }

  /** Throws when it cannot be found out; the next call tries again. */
  find(): Promise<EngineAbilities> {
    this.underWay ??= this.tryOut().then(
      (abilities) => {
        this.found = abilities
        return abilities
      },
      (error: unknown) => {
        this.underWay = undefined
        this.failure = errorText(error)
        this.deps.log.error('what the container engine can do could not be found out; no container starts before that', {
          error: this.failure,
        })
        throw error
      },
    )
    return this.underWay
  }

  /** What it cannot do, in words for the operator. */
  missing(): string[] {
    if (this.found === undefined) {
      return [`container engine: what it can do could not be found out (${this.failure}); no container starts`.slice(0, MISSING_MAX_CHARS)]
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
      // What a former process was about to remove.
      await engine.remove(this.name)
      await engine.load(await makeTrialImage(dir, this.image), new AbortController().signal)
      const limitsDisk = await this.can('create', { StorageOpt: { size: '1G' } })
      const raisesLimits = hasTrialProgram() && (await this.can('start', this.limits(true), this.limits(false)))
      await this.lookAtViews(dir)
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

  /** Volumes are given as they are where the engine does not see what the agent mounts (HOST-89). */
  private async lookAtViews(dir: string): Promise<void> {
    const { views } = this.deps
    const view = await views.of(dir).catch(() => undefined)
    if (view === dir) return
    const mount = { Type: 'bind' as const, Source: join(view ?? '', 'volume'), Target: '/volume' }
    if (view === undefined || !(await this.can('create', { Mounts: [mount] }))) views.giveUp()
  }

  /** Whether it works so. It does not when it works otherwise, and then again does not so: a moment's trouble is no answer. */
  private async can(step: 'create' | 'start', wanted: HostConfig, otherwise: HostConfig = {}): Promise<boolean> {
    if ((await this.fail(step, wanted)) === undefined) return true
    const failure = await this.fail(step, otherwise)
    if (failure !== undefined) throw new Error(failure)
    return (await this.fail(step, wanted)) === undefined
  }

  /** Why a container could not be had; undefined: it could. None is left. */
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
