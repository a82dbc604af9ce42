import type { Pod } from '../../../../contract/pods/pods.ts'
import { Panel } from '../../../parts/page.tsx'
import { Ago } from '../../../parts/time.tsx'
import { deadlineAt, HOUR_MS, HOURS } from '../deadline.ts'
import { IdleStop } from './idle-stop.tsx'
import { Timer } from './timer.tsx'

/** Deadlines at which the plane stops or terminates the pod, to set and to clear (POD-60). */
export function Deadlines({ pod }: { pod: Pod }) {
  return (
    <Panel title="Automatic stop">
      <div className="flex flex-col gap-4">
        <Deadline pod={pod} member="stopAfter" verb="stop" noun="stop time" label="Stop in" />
        <Deadline pod={pod} member="terminateAfter" verb="terminate" noun="termination time" label="Terminate in" />
        <IdleStop pod={pod} />
      </div>
    </Panel>
  )
}

interface DeadlineProps {
  pod: Pod
  member: 'stopAfter' | 'terminateAfter'
  verb: string
  noun: string
  label: string
}

function Deadline({ pod, member, verb, noun, label }: DeadlineProps) {
  const at = pod[member]
  return (
    <Timer
      podId={pod.id}
      label={label}
      noun={noun}
      choices={HOURS}
      initial={2}
      unitMs={HOUR_MS}
      isSet={at !== null}
      change={(ms) => ({ [member]: ms === null ? null : deadlineAt(String(ms / HOUR_MS), Date.now()) })}
      said={{
        set: () => `The plane will ${verb} the pod`,
        cleared: `The plane will not ${verb} the pod`,
        unset: 'No time is set.',
      }}
    >
      {at === null ? `No ${noun} is set.` : <Ago at={at} />}
    </Timer>
  )
}
