import { useMemo } from 'react'
import type { JobAttempt } from '../../../../contract/jobs/timeline.ts'
import { paths } from '../../../hooks/paths.ts'
import { useUrlState } from '../../../hooks/url-state.ts'
import { SelectField } from '../../../parts/form/field.tsx'
import { Options } from '../../../parts/form/form.tsx'
import { A } from '../../../parts/link.tsx'
import { Logs } from '../../../parts/logs/logs.tsx'
import { workerLog } from '../../../parts/logs/reading/origins.ts'
import { ViewState } from '../../../parts/view-state.tsx'
import { useTimeline } from './use-timeline.ts'

/** Log of the worker during each attempt of the job; the worker may have ended (UI-54). */
export function JobLogs({ endpointId, jobId }: { endpointId: string; jobId: string }) {
  const [chosen, setChosen] = useUrlState('attempt', '')
  const timeline = useTimeline(endpointId, jobId)
  return (
    <ViewState
      of={timeline}
      empty={{
        when: ({ attempts }) => attempts.length === 0,
        show: <p className="text-soft">No worker has taken the job yet, so there is no log.</p>,
      }}
    >
      {({ attempts }) => {
        const attempt = attempts.find((one) => String(one.attempt) === chosen) ?? attempts.at(-1)
        if (!attempt) return null
        return (
          <div className="flex flex-col gap-3">
            <div className="flex flex-wrap items-end gap-3">
              <SelectField label="Attempt" value={String(attempt.attempt)} onChange={({ target }) => setChosen(target.value)}>
                <Options of={attempts.map((one) => [one.attempt, `${one.attempt} (${one.outcome})`])} />
              </SelectField>
              <span className="py-1.5">
                <A to={paths.worker(endpointId, attempt.logs.workerId)}>Complete log of this worker</A>
              </span>
            </div>
            <AttemptLog endpointId={endpointId} of={attempt} />
          </div>
        )
      }}
    </ViewState>
  )
}

function AttemptLog({ endpointId, of: attempt }: { endpointId: string; of: JobAttempt }) {
  const { workerId, since, until } = attempt.logs
  const origin = useMemo(() => workerLog(endpointId, workerId, { since, until }), [endpointId, workerId, since, until])
  return <Logs of={origin} />
}
