import { useState } from 'react'
import type { Pod } from '../../../../contract/pods/pods.ts'
import { useAct } from '../../../app/act.ts'
import { useRefresh } from '../../../app/live.ts'
import { useApi } from '../../../app/session.ts'
import { Button } from '../../../parts/button.tsx'
import { CopyAs } from '../../../parts/copy/copy-as.tsx'
import { SelectField } from '../../../parts/form/field.tsx'
import { duration } from '../../../parts/format.ts'
import { Ago } from '../../../parts/time.tsx'
import { IDLE_MINUTES } from '../deadline.ts'

/** After how much doing nothing the platform stops the pod, to set and to clear (SPD-5). */
export function IdleStop({ pod }: { pod: Pod }) {
  const { api, may } = useApi()
  const { isBusy, run } = useAct()
  const refresh = useRefresh()
  const [minutes, setMinutes] = useState('30')
  const noRight = may('pods:write') ? undefined : 'Your role may look at pods, not change them.'
  const asked = { afterSeconds: Number(minutes) * 60 }
  const change = async (idleStop: Pod['idleStop'], done: string) => {
    await run(() => api.updatePod({ path: { id: pod.id }, body: { idleStop } }), done)
    await refresh('pods')
  }
  return (
    <div className="flex flex-wrap items-end gap-3">
      <div className="w-40">
        <SelectField label="Stop when idle for" value={minutes} onChange={({ target }) => setMinutes(target.value)}>
          {IDLE_MINUTES.map((one) => (
            <option key={one} value={one}>
              {duration(one * 60_000)}
            </option>
          ))}
        </SelectField>
      </div>
      <Button
        isBusy={isBusy}
        disabledReason={noRight}
        onClick={() =>
          void change(asked, `The platform will stop the pod when it has done nothing for ${duration(asked.afterSeconds * 1000)}`)
        }
      >
        Set idle stop
      </Button>
      <Button
        isBusy={isBusy}
        disabledReason={noRight ?? (pod.idleStop === null ? 'It is not stopped when idle.' : undefined)}
        onClick={() => void change(null, 'The platform will not stop the pod when it is idle')}
      >
        Clear idle stop
      </Button>
      <CopyAs call={{ method: 'PATCH', path: `/v2/pods/${pod.id}`, body: { idleStop: asked } }} />
      <p className="text-soft w-full text-xs">
        <State of={pod} />
      </p>
    </div>
  )
}

function State({ of: { idleStop, runtime } }: { of: Pod }) {
  if (idleStop === null) return <>It is not stopped when it does nothing.</>
  const after = duration(idleStop.afterSeconds * 1000)
  const at = runtime?.idleStopAt
  if (typeof at !== 'string') return <>It is stopped when it has done nothing for {after}.</>
  return (
    <>
      It does nothing, and is stopped <Ago at={at} /> if that goes on ({after}).
    </>
  )
}
