import type { Isolation, RuntimeClass } from '../../host-protocol/messages.ts'
import type { EngineFacts } from '../engine/engine-facts.ts'
import type { KernelFacts } from './kernel-facts.ts'
import { judgeVersion } from './versions.ts'

/** Inotify instances that suffice for a hundred containers; one program uses one or a few. */
const INOTIFY_ENOUGH = 8_192

/** The facts about a machine from which its isolation is judged. */
export interface HostFacts {
  runtimeClass: RuntimeClass
  /** Undefined: this host runs no containers. */
  engine: EngineFacts | undefined
  kernel: KernelFacts
}

/**
 * Returns how far this host is isolated from its workloads and what it cannot enforce (HOST-87). `alsoMissing` lists the gaps that other
 * parts of the agent found.
 */
export function judgeHost({ runtimeClass, engine, kernel }: HostFacts, alsoMissing: readonly string[]): Isolation {
  const userNamespaces = engine !== undefined && engine.remappedRoot !== null
  return {
    runtimeClass,
    userNamespaces,
    missing: [...(engine === undefined ? [] : listMissing(runtimeClass, engine, kernel)), ...alsoMissing],
  }
}

function listMissing(runtimeClass: RuntimeClass, { remappedRoot, seccomp, versions }: EngineFacts, kernel: KernelFacts): string[] {
  // The other classes use a kernel of their own, so these settings of the machine's kernel do not matter.
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
