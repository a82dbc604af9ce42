import type { Pod, UpdatePodRequest } from '../../../../contract/pods/pods.ts'
import { type ContainerText, containerChanges, containerProblems, containerText } from '../../../parts/container/container-form.ts'
import { readNumber } from '../../../parts/container/text-lists.ts'

/** What of a pod can be changed, as one types it. */
export interface SettingsText {
  name: string
  container: ContainerText
  persistentGb: string
  persistentPath: string
  locked: boolean
  globalNetworking: boolean
  isReplaced: boolean
}

/** A change of these makes a new container (POD-13); the others leave what runs alone. */
const OF_CONTAINER = ['image', 'args', 'env', 'ports', 'disk', 'registry', 'globalNetworking'] as const

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
  }
}

/** What a save sends: the members that differ. */
export function changesOf(text: SettingsText, before: SettingsText): UpdatePodRequest {
  const size = readNumber(text.persistentGb)
  return {
    ...(text.name !== before.name && { name: text.name }),
    ...containerChanges(text.container, before.container),
    ...(text.persistentGb !== before.persistentGb && size !== undefined && { mounts: { persistent: { size, path: text.persistentPath } } }),
    ...(text.locked !== before.locked && { locked: text.locked }),
    ...(text.globalNetworking !== before.globalNetworking && { globalNetworking: text.globalNetworking }),
    ...(text.isReplaced !== before.isReplaced && { onHostLoss: text.isReplaced ? 'REPLACE' : 'WAIT' }),
  }
}

/** Whether a change starts the pod in a new container, whose disk is empty. */
export function needsNewContainer(body: UpdatePodRequest): boolean {
  return OF_CONTAINER.some((name) => name in body)
}

/** What cannot be sent as it is typed. */
export function settingsProblem({ container }: SettingsText): string | undefined {
  return Object.values(containerProblems(container))[0]
}
