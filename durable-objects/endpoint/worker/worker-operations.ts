import { BOOT_FORM, readBoot } from '../../../src/contract/jobs/boot.ts'
import { isPoll, type WorkerCall } from '../../../src/contract/jobs/job-routes.ts'
import type { Holder } from '../../../src/domain/job/job.ts'
import { DELIVERY_HEADER, parseDelivery } from '../../../src/host-protocol/delivery.ts'
import { takePing } from '../../../src/queue/pings.ts'
import type { Ping } from '../../../src/queue/state.ts'
import { jsonReply } from '../../../src/rpc/plain-reply.ts'
import { problemReply } from '../replies.ts'
import { type PollParts, stopPoll, takeBatch, takeOne } from './worker-polls.ts'
import { type PostParts, postChunk, postResult } from './worker-posts.ts'

const MAX_UNHEALTHY_CHARS = 512
const RETRY_SECONDS = '5'

/** Runs one call of the worker protocol over HTTP; the worker's key has been checked. The rules of each call are in src/queue. */
export async function workerOperation(core: PollParts & PostParts, call: WorkerCall, request: Request): Promise<Response> {
  const boot = readBoot(call.query)
  if (boot === null) return refuseBoot(call, request)
  const from: Holder = { workerId: call.workerId, boot }
  switch (call.operation) {
    case 'job-take':
      return takeOne(core, call, from, request)
    case 'job-take-batch':
      return takeBatch(core, call, from, request)
    case 'job-stop':
      return stopPoll(core, from, request.signal)
    case 'job-done':
      return postResult(core, call.jobId, { ...from, delivery: deliveryOf(request) }, request)
    case 'job-stream':
      return postChunk(core, call.jobId, { ...from, delivery: deliveryOf(request) }, request)
    case 'ping': {
      const ping = readPing(call.query)
      await core.transact((tx) => takePing(tx, from, ping))
      return jsonReply('{}')
    }
    default:
      throw new Error(`no such operation: ${call.operation satisfies never}`)
  }
}

// WRK-18: a post is read and answered 200 whatever its content.
async function refuseBoot(call: WorkerCall, request: Request): Promise<Response> {
  if (isPoll(call)) return problemReply('rateLimited', BOOT_FORM, { 'retry-after': RETRY_SECONDS })
  await request.body?.pipeTo(new WritableStream())
  return jsonReply('{}')
}

function deliveryOf(request: Request) {
  return parseDelivery(request.headers.get(DELIVERY_HEADER))
}

function readPing(query: URLSearchParams): Ping {
  const isUnhealthy = query.get('status') === 'unhealthy'
  return {
    listed: new Set((query.get('job_id') ?? '').split(',').filter((id) => id !== '')),
    sdkVersion: query.get('runpod_version'),
    unhealthy: isUnhealthy ? `${query.get('check') ?? 'check'}: ${query.get('reason') ?? 'unhealthy'}`.slice(0, MAX_UNHEALTHY_CHARS) : null,
  }
}
