import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { WorkloadMount } from '../../host-protocol/messages.ts'
import { syncDirectory } from '../../node/durable-file.ts'
import { errorText, hasCode } from '../../node/fail.ts'
import type { EngineMount } from '../engine/engine.ts'
import type { Log } from '../log.ts'
import type { MountDriver } from './mount-driver.ts'
import { DirectoryVolumes, type HeldVolumes } from './shared-volumes.ts'

/** Name prefix of directories that are being removed; no volume id can begin with it. */
const TRASH_PREFIX = '.wiped-'

/** Limit, because the error of `rm` names every file that it could not remove. */
const ERROR_MAX_CHARS = 500

const run = promisify(execFile)

/** The persistent volumes of the pods of this host: one directory per pod, retained until the pod is terminated (HOST-53). */
export class PersistentVolumes implements MountDriver {
  private readonly root: string
  private readonly log: Log
  private readonly volumes: DirectoryVolumes

  constructor(root: string, log: Log, held: HeldVolumes) {
    this.root = root
    this.log = log
    this.volumes = new DirectoryVolumes({ root, label: 'the volume directory', owner: held.owner }, held)
  }

  provide(mount: WorkloadMount): Promise<EngineMount> {
    return this.volumes.provide(mount)
  }

  /** Removes a volume with its contents. It is inaccessible at once; its files are deleted in the background. */
  async wipe(id: string): Promise<void> {
    const trash = join(this.root, `${TRASH_PREFIX}${id}-${randomUUID()}`)
    try {
      await rename(join(this.root, id), trash)
      // The rename must be durable: the plane takes the report of the removal as final and does not ask again.
      await syncDirectory(this.root)
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return
      throw error
    }
    this.log.info('wiped a persistent volume', { volume: id })
    void this.empty(trash)
  }

  /** Continues removals that a previous agent process did not finish. */
  sweep(): void {
    for (const name of readdirSync(this.root)) if (name.startsWith(TRASH_PREFIX)) void this.empty(join(this.root, name))
  }

  private async empty(trash: string): Promise<void> {
    try {
      // Not Node's `rm`: it uses whole paths, so files below the maximum path length would never be removed.
      await run('rm', ['-rf', '--', trash])
    } catch (error) {
      this.log.warn('could not remove all files of a wiped volume; the next start tries again', {
        path: trash,
        error: errorText(error).slice(0, ERROR_MAX_CHARS),
      })
    }
  }
}
