import type { ApiClient } from '../../../client/client.ts'
import { type ItemOf, type Paged, pageOf } from '../../../client/page.ts'
import type { Endpoint } from '../../../contract/endpoints/endpoints.ts'
import type { PodCounts } from '../../../contract/pods/pods.ts'
import { type Live, useLive } from '../../hooks/live.ts'
import { useApi } from '../../hooks/session.ts'
import type { Overview, Queue, Some } from './attention.ts'

/** Rows per table; the list pages show the rest. */
export const MOST_ROWS = 8
/** Pods that run or are about to. */
const ACTIVE = ['RUNNING', 'STARTING', 'PROVISIONING']

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
    may('pods:read') ? api.listPods({ query: { limit: MOST_ROWS, include: 'COUNTS', status: ACTIVE } }, options) : undefined,
    may('serverless:read') ? api.listEndpoints({ query: { limit: MOST_QUEUES, include: 'COUNTS' } }, options) : undefined,
    may('clusters:read') ? api.listClusters({}, options).then((answer) => answer.clusters) : [],
    may('billing:read') ? api.getSpend({ query: { limit: MOST_SPEND_ITEMS } }, options).then((answer) => answer.items) : [],
  ])
  const of = { pods: someOf(pods), podCounts: pods?.counts ?? NO_PODS, endpoints: someOf(endpoints) }
  const queues = may('jobs:read') ? await queuesOf(api, signal, of.endpoints.first) : new Map<string, Queue>()
  return { ...of, clusters, queues, spend, nowMs: Date.now() }
}

const NO_PODS: PodCounts = { total: 0, byStatus: {}, reasons: [] }

function someOf<Answer extends Paged & { counts?: { total: number } | undefined }>(answer: Answer | undefined): Some<ItemOf<Answer>> {
  return answer === undefined ? { first: [], total: 0 } : { first: pageOf(answer).items, total: answer.counts?.total ?? 0 }
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
