import type { Pod } from '../../../contract/pods/pods.ts'

export type PodAct = Pod['actions'][number]

interface PodActTexts {
  title: string
  done: string
  /** Data loss that the user has to confirm; without it, the action needs no confirmation. */
  loses?: string
}

/** All actions of a pod, in the order of its buttons (POD-14). */
export const POD_ACTS: Readonly<Record<PodAct, PodActTexts>> = {
  start: { title: 'Start', done: 'The pod starts' },
  stop: { title: 'Stop', done: 'The pod stops' },
  restart: {
    title: 'Restart',
    done: 'The pod restarts',
    loses: 'The pod continues in a new container. Data on its container disk is lost; mounts stay.',
  },
  terminate: {
    title: 'Terminate',
    done: 'The pod is terminated',
    loses: 'The pod is deleted with its container disk and its persistent mount. Volumes stay.',
  },
}
export const ACT_ORDER = ['start', 'stop', 'restart', 'terminate'] as const satisfies readonly PodAct[]

/** Reason why an action is not possible, from the `actions` that the plane lists for the pod; undefined if it is possible. */
export function whyNot(pod: Pick<Pod, 'actions' | 'status' | 'locked'>, act: PodAct, mayWrite: boolean): string | undefined {
  if (!mayWrite) return 'Your role may view pods but not change them.'
  if (pod.actions.includes(act)) return undefined
  if (pod.locked && (act === 'stop' || act === 'restart')) return 'The pod is locked. Unlock it in its settings first.'
  return `Not while the pod is ${pod.status}.`
}

/** Hardware of a pod in a few words. */
export function hardwareOf({ gpu, cpu }: Pick<Pod, 'gpu' | 'cpu'>): string {
  if (gpu !== undefined) return `${gpu.count} × ${gpu.id}`
  return cpu === undefined ? '–' : `${cpu.vcpuCount} vCPU ${cpu.id}`
}
