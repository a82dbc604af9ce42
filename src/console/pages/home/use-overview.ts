import type { ApiClient } from '../../../client/client.ts'
import type { Endpoint } from '../../../contract/endpoints/endpoints.ts'
import { type Live, useLive } from '../../hooks/live.ts'
import { useApi } from '../../hooks/session.ts'
import type { Overview, Queue } from './attention.ts'

/** Each queue costs one request. */
const MOST_QUEUES = 12
const MOST_SPEND_ITEMS = 50
/** Requests per refresh besides one per queue; the interval grows with their number to stay within the request budget of a tab (UI-10). */
const REQUESTS = 4
const PER_REQUEST_MS = 2_000

/** All data of Home as one query. It leaves out data that the session may not read. */
export function useOverview(): Live<Overview> {
  const { may } = useApi()
  return useLive(['overview'], (api, signal) => readOverview(api, signal, may), {
    everyMs: (last) => PER_REQUEST_MS * (REQUESTS + (last?.queues.size ?? 1)),
  })
}

async function readOverview(api: ApiClient, signal: AbortSignal, may: (scope: string) => boolean): Promise<Overview> {
  const options = { signal }
  const [pods, endpoints, clusters, spend] = await Promise.all([
    may('pods:read') ? api.listPods({}, options).then((answer) => answer.pods) : [],
    may('serverless:read') ? api.listEndpoints({}, options).then((answer) => answer.endpoints) : [],
    may('clusters:read') ? api.listClusters({}, options).then((answer) => answer.clusters) : [],
    may('billing:read') ? api.getSpend({ query: { limit: MOST_SPEND_ITEMS } }, options).then((answer) => answer.items) : [],
  ])
  const queues = may('jobs:read') ? await queuesOf(api, signal, endpoints) : new Map<string, Queue>()
  return { pods, endpoints, clusters, queues, spend, nowMs: Date.now() }
}

async function queuesOf(api: ApiClient, signal: AbortSignal, endpoints: readonly Endpoint[]): Promise<Map<string, Queue>> {
  const asked = endpoints.filter(({ type }) => type === 'QUEUE').slice(0, MOST_QUEUES)
  const found = await Promise.all(
    asked.map(async ({ id }) => {
      // A failed request hides the figures of one endpoint only.
      const queue = await api.getQueueHealth({ path: { endpointId: id } }, { signal }).catch(() => undefined)
      return [id, queue] as const
    }),
  )
  return new Map(found.flatMap(([id, queue]) => (queue === undefined ? [] : [[id, queue] as const])))
}
