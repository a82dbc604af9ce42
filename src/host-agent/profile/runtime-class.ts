import type { RuntimeClass } from '../../host-protocol/messages.ts'
import { OperatorError } from '../../node/fail.ts'

/** Names under which engines know the runtime of a class, the most usual first. */
const ENGINE_NAMES: Readonly<Record<Exclude<RuntimeClass, 'runc'>, readonly string[]>> = {
  runsc: ['runsc', 'io.containerd.runsc.v1'],
  kata: ['kata', 'kata-runtime', 'io.containerd.kata.v2'],
}

/**
 * What a container asks of the engine for a runtime class (HOST-87). `runc` asks for nothing: where NVIDIA's runtime is the engine's default,
 * that is runc with a hook. Throws for a class that the engine has no runtime for, because nothing may run in less than was promised.
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
