import type { Endpoint } from '../../../contract/endpoints/endpoints.ts'
import type { Pod } from '../../../contract/pods/pods.ts'
import type { Template } from '../../../contract/resources/templates.ts'

/** What stands for a secret in an environment. */
const REFERENCE = /\{\{\s*RUNPOD_SECRET_([^\s}]+)\s*\}\}/g

/** What may use something that is kept. */
export interface Users {
  pods: readonly Pod[]
  endpoints: readonly Endpoint[]
  templates: readonly Template[]
}

/** Something that is kept: a volume or a credential by its id, a secret by its name. */
export type Kept = { kind: 'network-volume' | 'global-volume' | 'registry'; id: string } | { kind: 'secret'; name: string }

/** Names what uses it, each with its kind (UI-28). */
export function usesOf(kept: Kept, { pods, endpoints, templates }: Users): string[] {
  return [
    ...pods.filter((pod) => isUsedByPod(kept, pod)).map(({ name }) => `pod ${name}`),
    ...endpoints.filter((endpoint) => isUsedByEndpoint(kept, endpoint)).map(({ name }) => `endpoint ${name}`),
    ...templates.filter((template) => isUsedByContainer(kept, template)).map(({ name }) => `template ${name}`),
  ]
}

function isUsedByPod(kept: Kept, pod: Pod): boolean {
  if (kept.kind === 'network-volume') return pod.mounts.network?.some(({ volumeId }) => volumeId === kept.id) ?? false
  if (kept.kind === 'global-volume') return pod.mounts.global?.some(({ volumeId }) => volumeId === kept.id) ?? false
  return isUsedByContainer(kept, pod)
}

function isUsedByEndpoint(kept: Kept, endpoint: Endpoint): boolean {
  return kept.kind === 'network-volume' ? endpoint.networkVolumes.includes(kept.id) : isUsedByContainer(kept, endpoint)
}

function isUsedByContainer(kept: Kept, { registry, env }: Pick<Pod, 'registry' | 'env'>): boolean {
  if (kept.kind === 'registry') return registry === kept.id
  if (kept.kind !== 'secret') return false
  return Object.values(env).some((value) => [...value.matchAll(REFERENCE)].some(([, name]) => name === kept.name))
}
