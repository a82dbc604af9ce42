import { finishJob } from '../../../src/domain/job/job.ts'
import type { TakenJob, TakeReply } from '../../../src/queue/dispatch.ts'
import { applyJob } from '../../../src/queue/jobs.ts'
import { currentJob } from '../../../src/queue/transitions.ts'
import type { EndpointCore } from '../core.ts'
import type { ParkedTake } from '../parking.ts'

/** Answers a take with the jobs that were leased to it. */
export function answerTake(core: EndpointCore, { take: open, jobs }: TakeReply): void {
  const take = core.parking.claimTake(open)
  if (!take) return
  if (jobs.every((job) => job.sealed === null)) take.answer(bodyOf(take, jobs.map(closeRecord)))
  else void answerSealed(core, take, jobs)
}

async function answerSealed(core: EndpointCore, take: ParkedTake, jobs: readonly TakenJob[]): Promise<void> {
  const records = await Promise.all(jobs.map((job) => openRecord(core, job)))
  const readable = records.filter((record) => record !== null)
  take.answer(readable.length > 0 ? bodyOf(take, readable) : null)
}

async function openRecord(core: EndpointCore, job: TakenJob): Promise<string | null> {
  if (job.sealed === null) return closeRecord(job)
  const opened = await core.seal.open(core.config()?.id ?? '', job.sealed)
  if (opened !== null) return `${job.text},"s3Config":${opened}}`
  await failUnreadable(core, job.jobId)
  return null
}

// The operator changed the plane's secret while the job waited. Running it without its bucket would lose its result somewhere else.
async function failUnreadable(core: EndpointCore, jobId: string): Promise<void> {
  await core.transact((tx) => {
    const job = currentJob(tx, jobId)
    if (job?.state !== 'IN_PROGRESS') return
    const error = "the job's s3Config can no longer be decrypted: the plane's secret has changed; submit it again"
    applyJob(tx, job, finishJob(job, 'FAILED', tx.nowMs, error))
  })
}

function closeRecord(job: TakenJob): string {
  return `${job.text}}`
}

function bodyOf(take: ParkedTake, records: readonly string[]): string {
  return take.batch ? `[${records.join(',')}]` : (records[0] ?? '')
}
