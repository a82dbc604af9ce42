import type { Isolation, RuntimeClass } from '../../host-protocol/messages.ts'
import type { EngineFacts } from '../engine/engine-facts.ts'
import type { KernelFacts } from './kernel-facts.ts'
import { judgeVersion } from './versions.ts'

/** One program watches with one or a few; a hundred containers have enough with these. */
const INOTIFY_ENOUGH = 8_192

export interface HostFacts {
  runtimeClass: RuntimeClass
  /** Undefined: no containers here. */
  engine: EngineFacts | undefined
  kernel: KernelFacts
}

/** How far this host keeps workloads from itself, and what it cannot enforce (HOST-87). What else is missing is told by who enforces it. */
export function judgeHost({ runtimeClass, engine, kernel }: HostFacts, alsoMissing: readonly string[]): Isolation {
  const userNamespaces = engine !== undefined && engine.remappedRoot !== null
  return {
    runtimeClass,
    userNamespaces,
    missing: [...(engine === undefined ? [] : listMissing(runtimeClass, engine, kernel)), ...alsoMissing],
  }
}

function listMissing(runtimeClass: RuntimeClass, { remappedRoot, seccomp, versions }: EngineFacts, kernel: KernelFacts): string[] {
  // The other classes put a kernel of their own in between, and have no use for the machine's.
  const sharesKernel = runtimeClass === 'runc'
  return [
    ...(sharesKernel && remappedRoot === null ? ['user namespaces: the container engine runs without "userns-remap"'] : []),
    ...(sharesKernel && !seccomp ? ['system calls: the container engine filters none (seccomp is off or unconfined)'] : []),
    ...(kernel.cgroupNamespaces ? [] : ['control groups: this kernel has no namespaces for them']),
    ...(sharesKernel && kernel.inotifyMax < INOTIFY_ENOUGH
      ? [`inotify: all containers and root share ${kernel.inotifyMax} instances; raise fs.inotify.max_user_instances`]
      : []),
    ...[judgeVersion('engine', versions.engine), sharesKernel ? judgeVersion('runc', versions.runc) : null].filter((text) => text !== null),
  ]
}
