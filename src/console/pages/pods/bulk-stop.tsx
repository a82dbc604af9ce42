import { useState } from 'react'
import type { Pod } from '../../../contract/pods/pods.ts'
import { useAct } from '../../hooks/act.ts'
import { useApi } from '../../hooks/session.ts'
import { Button } from '../../parts/button.tsx'
import { count, perHour } from '../../parts/format.ts'
import { Confirm } from '../../parts/over/confirm.tsx'
import { Plans } from '../../parts/plan/plan.tsx'
import { whyNot } from './pod-acts.ts'

/** Stops the chosen pods after a confirmation that lists the ones that can stop and the saved cost. */
export function BulkStop({ pods, onDone }: { pods: readonly Pod[]; onDone: () => void }) {
  const { api, may, refresh } = useApi()
  const { isBusy, run } = useAct()
  const [isAsked, setIsAsked] = useState(false)
  const able = pods.filter((pod) => whyNot(pod, 'stop', may('pods:write')) === undefined)
  const saved = able.reduce((sum, { cost }) => sum + cost, 0)
  const stop = async () => {
    const stopAll = async () => {
      const outcomes = await Promise.allSettled(able.map(({ id }) => api.actOnPod({ path: { id }, body: { action: 'stop' } })))
      const failed = outcomes.filter((outcome) => outcome.status === 'rejected')
      if (failed.length > 0) throw new Error(`${count(failed.length, 'pod')} did not stop: ${String(failed[0]?.reason)}`)
    }
    await run(stopAll, `${count(able.length, 'pod')} stopped`)
    setIsAsked(false)
    onDone()
    await refresh('pods')
  }
  const calls = able.map(({ id }) => ({
    method: 'POST' as const,
    path: `/v2/pods/${id}/action`,
    body: { action: 'stop' },
    command: `pods stop ${id}`,
  }))
  const reason =
    pods.length === 0 ? 'Select pods in the list first.' : able.length === 0 ? 'None of the selected pods can be stopped now.' : undefined
  return (
    <div className="flex flex-wrap items-center gap-3">
      <Button disabledReason={reason} onClick={() => setIsAsked(true)}>
        Stop selected
      </Button>
      <span className="text-soft" aria-live="polite">
        {count(pods.length, 'pod')} selected
      </span>
      <Confirm
        title={`Stop ${count(able.length, 'pod')}?`}
        verb="Stop pods"
        isOpen={isAsked}
        isBusy={isBusy}
        onClose={() => setIsAsked(false)}
        onConfirm={() => void stop()}
        copied={calls.length > 0 ? calls : undefined}
      >
        <p>
          This saves {perHour(saved)}. The pods keep their disks, and you can start each again
          {able.length < pods.length ? `; ${count(pods.length - able.length, 'pod')} cannot be stopped now and stays as it is` : ''}.
        </p>
        <Plans of={calls} />
      </Confirm>
    </div>
  )
}
