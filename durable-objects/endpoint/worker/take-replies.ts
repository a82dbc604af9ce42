import { finishJob } from '../../../src/domain/job/job.ts'
import type { TakenJob, TakeReply } from '../../../src/queue/dispatch.ts'
import { applyJob } from '../../../src/queue/jobs.ts'
import { currentJob } from '../../../src/queue/transitions.ts'
import type { ParkedTake } from '../parking.ts'
import type { Commits, Rows, Secrets, Waiting } from '../parts.ts'
import { legacyS3ConfigSeal, s3ConfigSealPlace } from '../s3-config-seal.ts'

/** Parts that the replies to takes use. */
export type TakeReplies = Commits & Rows & Secrets & Waiting

/** Replies to a take with the jobs that were leased to it. */
export function answerTake(core: TakeReplies, { take: open, jobs }: TakeReply): void {
  const take = core.parking.claimTake(open)
  if (!take) return
  const records = jobs.map((job) => openRecord(core, job))
  const readable = records.filter((record) => record !== null)
  take.answer(readable.length > 0 || jobs.length === 0 ? bodyOf(take, readable) : null)
}

function openRecord(core: Commits & Rows & Secrets, job: TakenJob): string | null {
  if (job.sealed === null) return `${job.text}}`
  const endpointId = core.config()?.id ?? ''
  const opened = core.vault.open(s3ConfigSealPlace(endpointId, job.jobId), job.sealed, legacyS3ConfigSeal(endpointId))
  if (opened !== null) return `${job.text},"s3Config":${opened}}`
  void failUnreadable(core, job.jobId)
  return null
}

// The operator changed the plane's secret while the job was queued. Without its bucket the job's result would be stored in the wrong place.
async function failUnreadable(core: Commits, jobId: string): Promise<void> {
  await core.transact((tx) => {
    const job = currentJob(tx, jobId)
    if (job?.state !== 'IN_PROGRESS') return
    const error = "the job's s3Config can no longer be decrypted: the plane's secret has changed; submit it again"
    applyJob(tx, job, finishJob(job, 'FAILED', tx.nowMs, error))
  })
}

function bodyOf(take: ParkedTake, records: readonly string[]): string {
  return take.batch ? `[${records.join(',')}]` : (records[0] ?? '')
}
