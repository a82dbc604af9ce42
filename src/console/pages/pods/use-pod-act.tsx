import { type ReactNode, useState } from 'react'
import type { Pod } from '../../../contract/pods/pods.ts'
import { useAct } from '../../hooks/act.ts'
import { useApi } from '../../hooks/session.ts'
import { Confirm } from '../../parts/over/confirm.tsx'
import { POD_ACTS, type PodAct } from './pod-acts.ts'

export type ActedPod = Pick<Pod, 'id' | 'name' | 'status' | 'locked' | 'actions' | 'mounts'>

interface PodActs {
  isBusy: boolean
  /** Runs an action, after a confirmation if data would be lost. */
  act: (pod: ActedPod, act: PodAct) => void
  /** Confirmation dialog, to be rendered on the page. */
  question: ReactNode
}

/** Actions of pods: reversible ones run at once, those that lose data need a confirmation. */
export function usePodActs(onTerminated?: () => void): PodActs {
  const { api, refresh } = useApi()
  const { isBusy, run } = useAct()
  const [asked, setAsked] = useState<{ pod: ActedPod; act: PodAct } | null>(null)
  const take = async (pod: ActedPod, act: PodAct) => {
    const isDone = await run(() => api.actOnPod({ path: { id: pod.id }, body: { action: act } }), POD_ACTS[act].done)
    setAsked(null)
    if (isDone && act === 'terminate') onTerminated?.()
    await refresh('pods')
  }
  const question = asked && (
    <Confirm
      title={`${POD_ACTS[asked.act].title} ${asked.pod.name}?`}
      verb={POD_ACTS[asked.act].title}
      isOpen
      isBusy={isBusy}
      onClose={() => setAsked(null)}
      onConfirm={() => void take(asked.pod, asked.act)}
      plan={{ method: 'POST', path: `/v2/pods/${asked.pod.id}/action`, body: { action: asked.act } }}
      typed={asked.act === 'terminate' && asked.pod.mounts.persistent !== undefined ? asked.pod.name : undefined}
    >
      <p>{POD_ACTS[asked.act].loses}</p>
    </Confirm>
  )
  return {
    isBusy,
    act: (pod, act) => (POD_ACTS[act].loses === undefined ? void take(pod, act) : setAsked({ pod, act })),
    question,
  }
}
