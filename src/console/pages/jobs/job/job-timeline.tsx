import type { JobAttempt, JobTimeline } from '../../../../contract/jobs/timeline.ts'
import { paths } from '../../../hooks/paths.ts'
import { duration } from '../../../parts/format.ts'
import { A } from '../../../parts/link.tsx'
import { Panel } from '../../../parts/page.tsx'
import { State } from '../../../parts/state.tsx'
import { ViewState } from '../../../parts/view-state.tsx'
import { costText, phaseLabel, sharesOf } from '../phases.ts'
import { useTimeline } from './use-timeline.ts'

/** Attempts of a job and their phases, compared with the usual durations, and the cost of the job. */
export function JobTimelinePanel({ endpointId, jobId }: { endpointId: string; jobId: string }) {
  const timeline = useTimeline(endpointId, jobId)
  return (
    <Panel title="Timeline">
      <ViewState
        of={timeline}
        empty={{ when: ({ attempts }) => attempts.length === 0, show: <p className="text-soft">No worker has taken the job yet.</p> }}
      >
        {(data) => (
          <div className="flex flex-col gap-4">
            <ol className="flex flex-col gap-4">
              {data.attempts.map((attempt) => (
                <li key={attempt.attempt}>
                  <Attempt endpointId={endpointId} jobId={jobId} of={attempt} medians={data.medians} />
                </li>
              ))}
            </ol>
            <p>{data.costUsd === null ? 'The cost is unknown.' : `The job has cost ${costText(data.costUsd)}.`}</p>
          </div>
        )}
      </ViewState>
    </Panel>
  )
}

const COLORS: Record<JobAttempt['phases'][number]['phase'], string> = {
  QUEUED: 'var(--color-line)',
  PLACING: 'var(--color-warn)',
  IMAGE: 'var(--color-soft)',
  START: 'var(--color-accent)',
  RUNNING: 'var(--color-good)',
}

interface AttemptProps {
  endpointId: string
  jobId: string
  of: JobAttempt
  medians: JobTimeline['medians']
}

function Attempt({ endpointId, jobId, of: attempt, medians }: AttemptProps) {
  const { worker, phases } = attempt
  const log = `${paths.job(endpointId, jobId)}?tab=logs&attempt=${attempt.attempt}`
  return (
    <section aria-label={`Attempt ${attempt.attempt}`} className="flex flex-col gap-2">
      <div className="flex flex-wrap items-center gap-3">
        <h3 className="font-medium">Attempt {attempt.attempt}</h3>
        <State value={attempt.outcome} />
        <A to={paths.worker(endpointId, worker.id)}>Worker {worker.id}</A>
        {worker.gpuTypeId !== null && (
          <span>
            {worker.gpuCount} × {worker.gpuTypeId}
          </span>
        )}
        {attempt.costUsd !== null && <span>{costText(attempt.costUsd)}</span>}
        <A to={log}>Log</A>
      </div>
      {attempt.reason !== null && <p className="text-bad">{attempt.reason}</p>}
      <div aria-hidden="true" className="border-line flex h-3 overflow-hidden rounded-full border">
        {sharesOf(phases).map(({ phase, share }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: phases follow one another and are only added.
          <span key={index} style={{ width: `${share * 100}%`, backgroundColor: COLORS[phase] }} />
        ))}
      </div>
      <ul className="flex flex-wrap gap-x-4 gap-y-1">
        {phases.map(({ phase, ms, from }) => (
          <li key={`${phase} ${from}`} className="flex items-center gap-1.5">
            <span aria-hidden="true" className="size-2.5 rounded-full" style={{ backgroundColor: COLORS[phase] }} />
            {phaseLabel(phase)} {duration(ms)}
            {medians[phase] !== null && <span className="text-soft">(usually {duration(medians[phase])})</span>}
          </li>
        ))}
      </ul>
    </section>
  )
}
