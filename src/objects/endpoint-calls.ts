import { readBoot } from '../contract/jobs/boot.ts'
import type { JobCall } from '../contract/jobs/job-routes.ts'
import { Problem } from '../contract/problems.ts'
import { announcedBytes } from '../domain/text/body-length.ts'
import type { Env } from '../env.ts'
import { DELIVERY_HEADER, parseDelivery } from '../host-protocol/delivery.ts'
import { type Caller, withCaller } from '../rpc/caller.ts'
import type { SubmitCall } from '../rpc/endpoint.ts'
import { jsonReply, toResponse } from '../rpc/plain-reply.ts'
import type { Owned } from './owned.ts'
import { endpointStub } from './stubs.ts'

/**
 * A body up to this size is read in the Worker; a larger one is streamed, so that many concurrent ones do not fill the isolate's memory.
 */
const MAX_PLAIN_BODY_BYTES = 64 * 1024

/** The caller, and the proof that it may call the endpoint. `caller` is null for a worker, which is not a user. */
export interface Admitted {
  endpoint: Owned<'endpoint'>
  caller: Caller | null
}

/**
 * One hop to the endpoint's object. The calls that are made for every job (`/run`, `/status`, `job-done`) are plain data while they are
 * small: a request and a response across isolates cost more than the rest of the call (adr/0010). Other calls, and those that wait for
 * their client, are forwarded as requests, and the object's response is passed through.
 */
export async function callEndpoint(env: Env, request: Request, call: JobCall, { endpoint, caller }: Admitted): Promise<Response> {
  const stub = endpointStub(env, endpoint)
  if (!caller) {
    if (call.operation !== 'job-done' || !isSmall(request)) return stub.fetch(request)
    const body = await readBody(request)
    const boot = readBoot(call.query)
    if (boot === null) return jsonReply('{}')
    const from = {
      workerId: call.workerId,
      boot,
      delivery: parseDelivery(request.headers.get(DELIVERY_HEADER)),
    }
    await stub.done(call.endpointId, call.jobId, from, body)
    return jsonReply('{}')
  }
  if (call.operation === 'status') {
    const reply = await stub.status(call.endpointId, call.jobId, caller)
    // Too large for an RPC. The first call was counted already.
    if (reply === null) return stub.fetch(withCaller(request, { ...caller, exempt: true }))
    return toResponse(reply)
  }
  if (call.operation === 'run' && isSmall(request)) {
    return toResponse(await stub.run(await plainSubmit(request, call, caller), caller))
  }
  return stub.fetch(withCaller(request, caller))
}

function isSmall(request: Request): boolean {
  return (announcedBytes(request.headers) ?? Number.POSITIVE_INFINITY) <= MAX_PLAIN_BODY_BYTES
}

// WRK-5: worker SDKs send JSON under a form content type, for which the runtime's own `text()` warns on every call.
async function readBody(request: Request): Promise<string> {
  return new TextDecoder().decode(await request.arrayBuffer())
}

async function readSmall(request: Request): Promise<string> {
  const text = await readBody(request)
  if (text.length <= MAX_PLAIN_BODY_BYTES) return text
  throw new Problem('payloadTooLarge', { detail: 'request body is longer than its Content-Length' })
}

async function plainSubmit(request: Request, call: JobCall, caller: Caller): Promise<SubmitCall> {
  return {
    endpointId: call.endpointId,
    operation: 'run',
    userId: caller.userId,
    body: await readSmall(request),
    ttl: call.query.get('ttl'),
    wait: null,
    idempotencyKey: request.headers.get('idempotency-key'),
  }
}
