import type { WorkloadMount } from '../../host-protocol/messages.ts'
import type { EngineMount } from '../engine/engine.ts'
import { StartError } from '../runtime.ts'
import { SAFE_ID } from '../volumes/volume-home.ts'

/** Prepares one kind of mount on this machine. */
export interface MountDriver {
  /** Prepares the mounted directory or volume; safe to repeat. Throws a `StartError` that names the problem on this host. */
  provide(mount: WorkloadMount): Promise<EngineMount>
}

/** The driver of each kind of mount. */
export type MountDrivers = { readonly [kind in WorkloadMount['kind']]: MountDriver }

// biome-ignore lint/suspicious/noControlCharactersInRegex: exactly those must not reach the engine
const CONTROL = /[\u0000-\u001f\u007f]/

/** Prepares all mounts of a workload, in their order. Throws a `StartError` for the first that fails. */
export async function provideMounts(mounts: readonly WorkloadMount[], drivers: MountDrivers): Promise<EngineMount[]> {
  const provided: EngineMount[] = []
  for (const mount of mounts) {
    checkMount(mount)
    provided.push(await drivers[mount.kind].provide(mount))
  }
  return provided
}

/** Refuses an id that is not safe as a name, and a path that is relative, ambiguous or `/` (MNT-5). */
function checkMount({ id, path }: WorkloadMount): void {
  if (!SAFE_ID.test(id)) throw new StartError(`the volume id '${id}' is not valid as a directory name`)
  const parts = path.split('/')
  if (!path.startsWith('/') || CONTROL.test(path) || parts.includes('..') || parts.includes('.') || parts.join('') === '') {
    throw new StartError(`the mount path ${JSON.stringify(path)} is not an absolute path of a directory below /`)
  }
}
