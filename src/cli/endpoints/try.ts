import { readJsonArgument } from '../core/body.ts'
import { EXIT } from '../core/exit-codes.ts'
import { usage } from '../core/failure.ts'
import { ATTEMPT_COLUMNS } from '../jobs/list.ts'
import { OVER, readChunks, waitForJob } from '../jobs/watch.ts'
import { formatTable } from '../output/table.ts'
import type { Answer } from '../session/pages.ts'
import type { Session } from '../session/session.ts'

type Job = Answer<'getJobStatus'>
type Timeline = Answer<'getJobTimeline'>

const INPUT = '{"prompt":"Hello"}'

/** Sends a job, prints its chunks as they arrive, then the duration of its phases (CMD-19). Throws a usage error for invalid input. */
export async function tryEndpoint(session: Session, endpointId: string, text = INPUT): Promise<number> {
  const input = await readJsonArgument(session.io, text, 'input')
  if (typeof input !== 'object' || input === null || Array.isArray(input)) throw usage(`the input must be a JSON object such as '${INPUT}'`)
  const { api, out } = session
  const { id: jobId } = await api.runJob({ path: { endpointId }, body: { input: input as Record<string, unknown> } })
  out.talk(`job ${jobId}`)
  const path = { endpointId, jobId }
  let chunks = 0
  for await (const chunk of readChunks(session, endpointId, jobId)) {
    chunks += 1
    if (!out.isJson && !session.globals.quiet) out.raw(textOf(chunk.output))
  }
  const job = await waitForJob(session, endpointId, jobId)
  const timeline = await api.getJobTimeline({ path })
  if (out.isJson || session.globals.quiet) out.record({ job, timeline }, jobId)
  else if (chunks === 0 && job.output !== undefined) out.raw(`${textOf(job.output).trimEnd()}\n`)
  else if (chunks > 0) out.raw('\n')
  printOutcome(session, job, timeline)
  return job.status === 'COMPLETED' ? EXIT.OK : EXIT.BAD_OUTCOME
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : `${JSON.stringify(value, null, 2)}\n`
}

function printOutcome({ out, io }: Session, job: Job, { attempts, costUsd }: Timeline): void {
  if (attempts.length > 0) out.talk(formatTable(attempts, ATTEMPT_COLUMNS, { nowMs: io.nowMs(), color: false }).trimEnd())
  const times = OVER.has(job.status) ? `: queued ${job.delayTime ?? 0} ms, ran ${job.executionTime ?? 0} ms` : ''
  out.talk(`${job.status}${times}${costUsd === null ? '' : `, $${costUsd}`}${job.error === undefined ? '' : `\n${job.error}`}`)
}
