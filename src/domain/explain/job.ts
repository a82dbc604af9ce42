import type { JobState } from '../../contract/enums.ts'
import type { WaitReason } from '../../contract/jobs/explain.ts'
import type { DecisionRecord } from '../worker/scaling-record.ts'
import type { WorkerCounts } from '../worker/worker.ts'
import { scalerFact, workerFacts } from './endpoint.ts'
import { fact, type Verdict } from './evidence.ts'

/** Explains a job, in the fields that all explanations share (WHY-11). Pure. */

/** Facts about the job. */
export interface ExplainedJob {
  state: JobState
  reason: WaitReason
  detail: string
  position: number | null
  createdAtMs: number
  startedAtMs: number | null
  finishedAtMs: number | null
  counts: WorkerCounts
  decision: DecisionRecord
  retryAtMs: number | null
}

/** Verdict on a job: its wait reason is the code, and the first sentence of `detail` is the text. */
export function verdictOfJob(job: ExplainedJob): Verdict {
  const { state, reason, detail, position, createdAtMs, startedAtMs, finishedAtMs, counts, decision, retryAtMs } = job
  const sinceMs = state === 'IN_QUEUE' ? createdAtMs : state === 'IN_PROGRESS' ? startedAtMs : finishedAtMs
  return {
    code: reason,
    verdict: firstSentence(detail),
    sinceMs: sinceMs ?? createdAtMs,
    facts: [
      fact('STATE', state, { atMs: sinceMs ?? createdAtMs }),
      ...(position === null ? [] : [fact('QUEUE', `${position} before it`, { count: position })]),
      ...workerFacts(counts),
      scalerFact(decision),
      ...(retryAtMs === null ? [] : [fact('RETRY', 'placement of a worker is retried', { atMs: retryAtMs })]),
    ],
  }
}

function firstSentence(text: string): string {
  const end = text.search(/\.\s+[A-Z]/)
  return end < 0 ? text : text.slice(0, end + 1)
}
