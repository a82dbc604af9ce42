import type { ApiBody } from '../../client/client.ts'
import { readBody, readJsonArgument } from '../core/body.ts'
import { EXIT } from '../core/exit-codes.ts'
import { usage } from '../core/failure.ts'
import type { Session } from '../session/session.ts'
import { printOutcome, streamJob, waitForJob } from './watch.ts'

/** Flags of `run`. */
export interface RunFlags {
  body?: string
  webhook?: string
  wait?: boolean
  stream?: boolean
}

/** Sends a job to an endpoint. */
export async function runJob(session: Session, endpointId: string, input: string | undefined, flags: RunFlags): Promise<number> {
  const job = await session.api.runJob({ path: { endpointId }, body: await bodyOf(session, input, flags) })
  if (flags.stream) return await streamJob(session, endpointId, job.id)
  if (flags.wait) return printOutcome(session, await waitForJob(session, endpointId, job.id))
  session.out.done(job, job.id, `job ${job.id} is ${job.status}; podplane jobs watch ${endpointId} ${job.id} waits for it`)
  return EXIT.OK
}

async function bodyOf(session: Session, input: string | undefined, { body, webhook }: RunFlags): Promise<ApiBody<'runJob'>> {
  const members = await readBody(session.io, body)
  const read = input === undefined ? members.input : await readJsonArgument(session.io, input, 'input')
  if (typeof read !== 'object' || read === null || Array.isArray(read)) {
    throw usage(`the input must be a JSON object such as '{"prompt":"Hello"}', @file, or - for stdin`)
  }
  return { ...members, input: read as Record<string, unknown>, ...(webhook !== undefined && { webhook }) }
}
