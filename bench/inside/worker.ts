import { parseJobCall } from '../../src/contract/jobs/job-routes.ts'
import type { Env } from '../../src/env.ts'
import { callEndpoint } from '../../src/objects/endpoint-calls.ts'
import { Owned } from '../../src/objects/owned.ts'
import { endpointStub } from '../../src/objects/stubs.ts'
import plane, {
  ClusterObject,
  HostTunnelObject,
  PodLogObject,
  RateLimiterObject,
  Sleeper,
  WebhookAttempt,
  WebhookSenderObject,
} from '../../src/worker.ts'
import { OpenEndpointObject } from './endpoint.ts'
import { ENTRY_HEADER, type Entry } from './entries.ts'
import { CountingHostObject, statementsOfHosts } from './host.ts'
import { callOpenly } from './open-rest.ts'

// The plane's own Worker; a request that names an entry point bypasses its front. Other requests pay only for the check of one header.

export default {
  fetch(request, env, ctx) {
    const entry = request.headers.get(ENTRY_HEADER)
    return entry === null ? plane.fetch(request, env, ctx) : enter(entry as Entry, request, env, ctx)
  },
} satisfies ExportedHandler<Env>

export {
  ClusterObject,
  CountingHostObject,
  HostTunnelObject,
  OpenEndpointObject,
  PodLogObject,
  RateLimiterObject,
  Sleeper,
  WebhookAttempt,
  WebhookSenderObject,
}

async function enter(entry: Entry, request: Request, env: Env, ctx: ExecutionContext): Promise<Response> {
  if (entry === 'rest') return callOpenly(request, env, ctx)
  if (entry === 'hostStatements') return Response.json(statementsOfHosts())
  const url = new URL(request.url)
  const [, , endpointId = ''] = url.pathname.split('/')
  // The bench's configuration binds the class below; its type is the plane's.
  const stub = endpointStub(env, Owned.prove('endpoint', endpointId, null)) as unknown as DurableObjectStub<OpenEndpointObject>
  if (entry === 'direct') return callDirectly(request, url, env)
  return Response.json((await callInside(stub, entry, Number(url.searchParams.get('count')), await request.text())) ?? null)
}

function callDirectly(request: Request, url: URL, env: Env): Promise<Response> {
  const call = parseJobCall(url)
  if (!call) throw new Error(`no such job call: ${url.pathname}`)
  const endpoint = Owned.prove('endpoint', call.endpointId, null)
  return callEndpoint(env, request, call, { endpoint, caller: { userId: 'bench', exempt: true } })
}

function callInside(
  stub: DurableObjectStub<OpenEndpointObject>,
  entry: Exclude<Entry, 'direct' | 'rest' | 'hostStatements'>,
  count: number,
  input: string,
) {
  switch (entry) {
    case 'nothing':
      return stub.nothing()
    case 'fill':
      return stub.fill(count, input)
    case 'insert':
      return stub.insert(count, input)
    case 'takeAndFinish':
      return stub.takeAndFinish(count)
    case 'trim':
      return stub.trim(count)
    case 'size':
      return stub.size()
    default:
      throw new Error(`no such entry: ${entry satisfies never}`)
  }
}
