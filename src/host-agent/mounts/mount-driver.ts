import type { MountSettings } from 'dockerode'
import type { WorkloadMount } from '../../host-protocol/messages.ts'
import { StartError } from '../runtime.ts'

/** A mount as the container engine is asked for it. */
export type EngineMount = MountSettings

/** Makes one kind of mount available on this machine. */
export interface MountDriver {
  /** Prepares what is mounted; repeats are free. Throws a `StartError` that says what is wrong with this host. */
  provide(mount: WorkloadMount): Promise<EngineMount>
}

export type MountDrivers = { readonly [kind in WorkloadMount['kind']]: MountDriver }

/** The ids become names of directories; the plane makes them, but a host does not trust its input. */
const SAFE_ID = /^[A-Za-z0-9_-]{1,64}$/
// biome-ignore lint/suspicious/noControlCharactersInRegex: exactly those must not reach the engine
const CONTROL = /[\u0000-\u001f\u007f]/

/** Prepares all mounts of a workload, in their order. Throws a `StartError` for the first that cannot be had. */
export async function provideMounts(mounts: readonly WorkloadMount[], drivers: MountDrivers): Promise<EngineMount[]> {
  const provided: EngineMount[] = []
  for (const mount of mounts) {
    checkMount(mount)
    provided.push(await drivers[mount.kind].provide(mount))
  }
  return provided
}

/** Refuses a path that could mean another one, or none (MNT-5). */
function checkMount({ id, path }: WorkloadMount): void {
  if (!SAFE_ID.test(id)) throw new StartError(`the volume id '${id}' cannot be the name of a directory`)
  const parts = path.split('/')
  if (!path.startsWith('/') || CONTROL.test(path) || parts.includes('..') || parts.includes('.') || parts.join('') === '') {
    throw new StartError(`the mount path ${JSON.stringify(path)} is not an absolute path of a directory below /`)
  }
}
