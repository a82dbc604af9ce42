import type { Pod, UpdatePodRequest } from '../../../../contract/pods/pods.ts'
import { type ContainerText, containerChanges, containerProblems, containerText } from '../../../parts/container/container-form.ts'
import { readLabels, readNumber, writeLabels } from '../../../parts/container/text-lists.ts'

/** Form of a pod's settings, as text. */
export interface SettingsText {
  name: string
  container: ContainerText
  persistentGb: string
  persistentPath: string
  locked: boolean
  globalNetworking: boolean
  isReplaced: boolean
  /** `key=value`, comma-separated. */
  labels: string
}

/** Fields whose change creates a new container (POD-13); the others do not affect the running container. */
const OF_CONTAINER = ['image', 'args', 'env', 'ports', 'disk', 'registry', 'globalNetworking'] as const

/** Returns the settings of a pod as form text. */
export function settingsText(pod: Pod): SettingsText {
  const { persistent } = pod.mounts
  return {
    name: pod.name,
    container: containerText(pod),
    persistentGb: persistent === undefined ? '' : String(persistent.size),
    persistentPath: persistent?.path ?? '',
    locked: pod.locked,
    globalNetworking: pod.globalNetworking.enabled,
    isReplaced: pod.onHostLoss === 'REPLACE',
    labels: writeLabels(pod.labels),
  }
}

/** Update request with only the fields that differ. */
export function changesOf(text: SettingsText, before: SettingsText): UpdatePodRequest {
  const size = readNumber(text.persistentGb)
  return {
    ...(text.name !== before.name && { name: text.name }),
    ...containerChanges(text.container, before.container),
    ...(text.persistentGb !== before.persistentGb && size !== undefined && { mounts: { persistent: { size, path: text.persistentPath } } }),
    ...(text.locked !== before.locked && { locked: text.locked }),
    ...(text.globalNetworking !== before.globalNetworking && { globalNetworking: text.globalNetworking }),
    ...(text.isReplaced !== before.isReplaced && { onHostLoss: text.isReplaced ? 'REPLACE' : 'WAIT' }),
    ...(text.labels !== before.labels && { labels: readLabels(text.labels) }),
  }
}

/** Whether an update starts a new container with an empty container disk. */
export function needsNewContainer(body: UpdatePodRequest): boolean {
  return OF_CONTAINER.some((name) => name in body)
}

/** Reason why the text cannot be sent; undefined if it can. */
export function settingsProblem({ container }: SettingsText): string | undefined {
  return Object.values(containerProblems(container))[0]
}
