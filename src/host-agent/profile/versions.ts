/** Oldest versions without a known escape from a container, or from a tenant's variables to the machine's root (HOST-90). */
export const MIN_VERSIONS = {
  /** First version with control-group namespaces. */
  engine: [20, 10, 0],
  /** CVE-2024-21626: a working directory of the machine leaks into containers. */
  runc: [1, 1, 12],
  /** CVE-2025-23266: variables of an image run code as the machine's root. */
  nvidiaToolkit: [1, 17, 8],
} as const

export type Component = keyof typeof MIN_VERSIONS

const NAMES: Readonly<Record<Component, string>> = { engine: 'container engine', runc: 'runc', nvidiaToolkit: 'NVIDIA container toolkit' }

/**
 * Returns the problem with a component's version, described for the operator; null: none. A distribution's package may have fixed an older
 * one.
 */
export function judgeVersion(component: Component, version: string | null): string | null {
  const least = MIN_VERSIONS[component]
  const found = /(\d+)\.(\d+)(?:\.(\d+))?/.exec(version ?? '')
  if (found === null) return `${NAMES[component]}: its version is not known; ${least.join('.')} or newer is needed`
  const numbers = found.slice(1).map((part: string | undefined) => Number(part ?? 0))
  return isOlder(numbers, least) ? `${NAMES[component]}: ${version} is older than ${least.join('.')}` : null
}

function isOlder(numbers: readonly number[], least: readonly number[]): boolean {
  for (const [index, wanted] of least.entries()) {
    const difference = (numbers[index] ?? 0) - wanted
    if (difference !== 0) return difference < 0
  }
  return false
}
