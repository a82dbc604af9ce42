import { isPoll, type JobCall } from '../../src/contract/jobs/job-routes.ts'
import { jsonReply } from '../../src/rpc/plain-reply.ts'
import { refusal } from './openai/openai-outcome.ts'
import { endpointNotFound, problemReply } from './replies.ts'
import { drainPost } from './worker/post-body.ts'

/** The reply to a call of an endpoint that was deleted or never existed. */
export async function refuseUnknown(call: JobCall, request: Request): Promise<Response> {
  if (call.operation === 'openai') return refusal('notFound', 'endpoint not found')
  if (call.route.caller === 'client') return endpointNotFound()
  // WRK-18: posts and pings are answered 200 whatever the state of their job; only polls get a 429.
  if (isPoll(call)) return problemReply('rateLimited', 'the endpoint was deleted', { 'retry-after': '5' })
  await drainPost(request, call.endpointId)
  return jsonReply('{}')
}
