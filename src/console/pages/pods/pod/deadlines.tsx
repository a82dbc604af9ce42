import { useState } from 'react'
import type { Pod } from '../../../../contract/pods/pods.ts'
import { useAct } from '../../../app/act.ts'
import { useRefresh } from '../../../app/live.ts'
import { useApi } from '../../../app/session.ts'
import { Button } from '../../../parts/button.tsx'
import { CopyAs } from '../../../parts/copy/copy-as.tsx'
import { SelectField } from '../../../parts/form/field.tsx'
import { duration } from '../../../parts/format.ts'
import { Panel } from '../../../parts/page.tsx'
import { Ago } from '../../../parts/time.tsx'
import { deadlineAt, HOURS } from '../deadline.ts'
import { IdleStop } from './idle-stop.tsx'

/** The times at which the platform stops or terminates the pod by itself, to set and to clear (PP-250). */
export function Deadlines({ pod }: { pod: Pod }) {
  return (
    <Panel title="Ends by itself">
      <div className="flex flex-col gap-4">
        <Deadline pod={pod} member="stopAfter" title="Stop" />
        <Deadline pod={pod} member="terminateAfter" title="Terminate" />
        <IdleStop pod={pod} />
      </div>
    </Panel>
  )
}

interface DeadlineProps {
  pod: Pod
  member: 'stopAfter' | 'terminateAfter'
  title: string
}

function Deadline({ pod, member, title }: DeadlineProps) {
  const { api, may } = useApi()
  const { isBusy, run } = useAct()
  const refresh = useRefresh()
  const [hours, setHours] = useState('2')
  const at = pod[member]
  const noRight = may('pods:write') ? undefined : 'Your role may look at pods, not change them.'
  const change = async (value: string | null, done: string) => {
    await run(() => api.updatePod({ path: { id: pod.id }, body: { [member]: value } }), done)
    await refresh('pods')
  }
  const verb = title.toLowerCase()
  return (
    <div className="flex flex-wrap items-end gap-3">
      <div className="w-40">
        <SelectField label={`${title} in`} value={hours} onChange={({ target }) => setHours(target.value)}>
          {HOURS.map((one) => (
            <option key={one} value={one}>
              {duration(one * 3_600_000)}
            </option>
          ))}
        </SelectField>
      </div>
      <Button
        isBusy={isBusy}
        disabledReason={noRight}
        onClick={() => void change(deadlineAt(hours, Date.now()), `The platform will ${verb} the pod`)}
      >
        Set {verb} time
      </Button>
      <Button
        isBusy={isBusy}
        disabledReason={noRight ?? (at === null ? 'No time is set.' : undefined)}
        onClick={() => void change(null, `The platform will not ${verb} the pod`)}
      >
        Clear {verb} time
      </Button>
      <CopyAs call={{ method: 'PATCH', path: `/v2/pods/${pod.id}`, body: { [member]: deadlineAt(hours, Date.now()) } }} />
      <p className="text-soft w-full text-xs">{at === null ? `It does not ${verb} by itself.` : <Ago at={at} />}</p>
    </div>
  )
}
