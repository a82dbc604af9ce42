import { join } from 'node:path'
import { z } from 'zod'
import type { Workload } from '../../host-protocol/messages.ts'
import { readJsonFile, writeJsonFile } from '../../node/json-file.ts'
import type { Log } from '../log.ts'
import { StartError, type StartHooks } from '../runtime.ts'
import type { DockerEngine } from './engine.ts'
import { engineText } from './engine-errors.ts'
import { DISK_REPOSITORY, isNamed, repositoryOf } from './image-names.ts'

export interface ContainerImagesDeps {
  engine: DockerEngine
  log: Log
  /** Where it is remembered which images are private. */
  stateDir: string
}

/** Sees to it that the image of a workload is there, and that the workload may have it. */
export class ContainerImages {
  private readonly deps: ContainerImagesDeps
  private readonly path: string
  private readonly privateRepositories: Set<string>

  constructor(deps: ContainerImagesDeps) {
    this.deps = deps
    this.path = join(deps.stateDir, 'private-images.json')
    this.privateRepositories = new Set(z.array(z.string()).safeParse(readJsonFile(this.path)).data ?? [])
  }

  /** Throws a `StartError` when the image is not to be had. */
  async provide(workload: Workload, hooks: StartHooks): Promise<void> {
    const { engine, log } = this.deps
    const { image, registryAuth } = workload
    if (repositoryOf(image) === DISK_REPOSITORY) throw new StartError(`image pull failed: the name '${DISK_REPOSITORY}' is reserved`)
    try {
      if (await this.isUsable(workload)) return
      hooks.onState('pulling')
      log.info('pulling an image', { image })
      // Before the pull: a crash in between must not leave a private image that nobody remembers to be one.
      if (registryAuth !== undefined) this.rememberPrivate(repositoryOf(image))
      await engine.pull(image, hooks.signal, registryAuth)
    } catch (error) {
      throw new StartError(`image pull failed: ${image}: ${engineText(error)}`)
    }
  }

  /** An image that was got with somebody's credential is asked for anew each time: the registry decides who may have it (HOST-58). */
  private async isUsable({ image, registryAuth }: Workload): Promise<boolean> {
    if (registryAuth !== undefined || this.privateRepositories.has(repositoryOf(image))) return false
    const names = await this.deps.engine.imageNames(image)
    return names !== undefined && isNamed(image, names)
  }

  private rememberPrivate(repository: string): void {
    if (this.privateRepositories.has(repository)) return
    // On disk first: one that is remembered in memory only is everybody's after a restart.
    writeJsonFile(this.path, [...this.privateRepositories, repository])
    this.privateRepositories.add(repository)
  }
}
