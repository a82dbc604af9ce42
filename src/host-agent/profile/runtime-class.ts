import type { RuntimeClass } from '../../host-protocol/messages.ts'
import { OperatorError } from '../../node/fail.ts'

/** Engines' names for the runtime of a class, the most common first. */
const ENGINE_NAMES: Readonly<Record<Exclude<RuntimeClass, 'runc'>, readonly string[]>> = {
  runsc: ['runsc', 'io.containerd.runsc.v1'],
  kata: ['kata', 'kata-runtime', 'io.containerd.kata.v2'],
}

/**
 * Returns the engine's runtime name for a runtime class (HOST-87); undefined for `runc`, because the engine's default may be NVIDIA's
 * runtime, which is runc with a hook. Throws an `OperatorError` for a class without a runtime: no workload may run with less isolation than
 * promised.
 */
export function engineRuntimeOf(runtimeClass: RuntimeClass, known: readonly string[]): string | undefined {
  if (runtimeClass === 'runc') return undefined
  const name = ENGINE_NAMES[runtimeClass].find((candidate) => known.includes(candidate))
  if (name !== undefined) return name
  const names = ENGINE_NAMES[runtimeClass].join(', ')
  throw new OperatorError(
    `--runtime-class ${runtimeClass}: the container engine has no runtime ${names} (it has ${known.join(', ') || 'none'}); add it to daemon.json`,
  )
}
