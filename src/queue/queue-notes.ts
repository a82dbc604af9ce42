import { explainJob, findTrouble, type JobFacts } from '../domain/job/explain.ts'
import type { Job } from '../domain/job/job.ts'
import type { QueueNote } from '../domain/job/record.ts'
import { countWorkers } from '../domain/worker/worker.ts'
import type { QueueState } from './state.ts'
import { liveConfig } from './tx.ts'
import { occupiedWorkers } from './worker-rows.ts'

/** Facts from which a job is explained (HLT-6). */
export function jobFacts(
  state: QueueState,
  { state: jobState, lowPriority }: Pick<Job, 'state' | 'lowPriority'>,
  ahead: JobFacts['ahead'],
): JobFacts {
  const workers = state.workers.all()
  const counts = countWorkers(workers, occupiedWorkers(state))
  return { state: jobState, lowPriority, ahead, workers: counts, trouble: findTrouble(workers), max: liveConfig(state)?.workers.max ?? 0 }
}

/** STA-2: why jobs of one priority wait, or undefined when a worker is about to take them. Derived once per commit, not once per call. */
export class QueueNotes {
  private readonly state: QueueState
  private readonly byPriority = new Map<boolean, QueueNote | undefined>()

  constructor(state: QueueState) {
    this.state = state
  }

  of(lowPriority: boolean): QueueNote | undefined {
    if (!this.byPriority.has(lowPriority)) this.byPriority.set(lowPriority, this.derive(lowPriority))
    return this.byPriority.get(lowPriority)
  }

  /** Called at the begin of a commit: notes derived from the rows have to be derived again. */
  discard(): void {
    this.byPriority.clear()
  }

  private derive(lowPriority: boolean): QueueNote | undefined {
    const ahead = { normal: lowPriority ? this.state.jobs.queuedNormal : 0, low: 0 }
    const facts = jobFacts(this.state, { state: 'IN_QUEUE', lowPriority }, ahead)
    const { cause } = explainJob(facts)
    return cause === null ? undefined : { reason: cause, workers: facts.workers }
  }
}
