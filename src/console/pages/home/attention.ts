import type { ApiClient } from '../../../client/client.ts'
import type { SpendItem } from '../../../contract/billing/spending.ts'
import type { Cluster } from '../../../contract/clusters/clusters.ts'
import type { Endpoint } from '../../../contract/endpoints/endpoints.ts'
import type { Pod, PodCounts } from '../../../contract/pods/pods.ts'
import { paths } from '../../hooks/paths.ts'
import { count, duration, money } from '../../parts/format.ts'

type PodReason = PodCounts['reasons'][number]
export type Queue = Pick<Awaited<ReturnType<ApiClient['getQueueHealth']>>, 'jobs' | 'workers'>

/** A few items of a list, and the size of the whole list. */
export interface Some<Item> {
  first: readonly Item[]
  total: number
}

/** Data of an account that Home shows: of long lists a few items, and counts of the plane. */
export interface Overview {
  pods: Some<Pod>
  podCounts: PodCounts
  endpoints: Some<Endpoint>
  clusters: readonly Cluster[]
  /** Queues by endpoint id; only of the endpoints that were queried. */
  queues: ReadonlyMap<string, Queue>
  spend: readonly SpendItem[]
  nowMs: number
}

/** A line of Home for a resource that needs attention; `to` is the address of its page. */
export interface AttentionLine {
  key: string
  to: string
  name: string
  text: string
  /** Whether something has failed; other lines wait, or cost money while idle. */
  isBad: boolean
}

/** Idle time from which a resource is listed, milliseconds. */
const IDLE_MS = 10 * 60_000

/** Most groups of failed pods, and of waiting ones, that Home names. */
const MOST_REASONS = 5
const WAITS = new Set<PodReason['status']>(['PROVISIONING', 'STARTING'])

/** Lines that need attention: failures first, then waiting work and idle resources that cost money (UI-27). */
export function attentionOf({ podCounts, endpoints, clusters, queues, spend, nowMs }: Overview): AttentionLine[] {
  const lines = [
    ...ofPods(podCounts),
    ...endpoints.first.flatMap((endpoint) => ofEndpoint(endpoint, queues.get(endpoint.id))),
    ...clusters.flatMap(ofCluster),
    ...spend.flatMap((item) => ofIdle(item, nowMs)),
  ]
  return lines.toSorted((a, b) => Number(b.isBad) - Number(a.isBad))
}

/** Equal reasons are one line (UI-81); the last one has the failed pods that the others leave out. */
function ofPods({ byStatus, reasons }: PodCounts): AttentionLine[] {
  const failed = reasons.filter(({ status }) => status === 'ERROR').slice(0, MOST_REASONS)
  const waiting = reasons.filter(({ status }) => WAITS.has(status)).slice(0, MOST_REASONS)
  const rest = (byStatus.ERROR ?? 0) - failed.reduce((sum, one) => sum + one.count, 0)
  const more = { key: 'pods/ERROR', to: paths.podsOf('ERROR'), name: count(rest, failed.length === 0 ? 'pod' : 'more pod') }
  return [...failed, ...waiting].map(ofReason).concat(rest > 0 ? [{ ...more, text: 'failed', isBad: true }] : [])
}

function ofReason({ status, reason, count: size, podId, podName }: PodReason): AttentionLine {
  const of = { key: `${status}/${reason}`, text: reason, isBad: status === 'ERROR' }
  return size === 1 ? { ...of, to: paths.pod(podId), name: podName } : { ...of, to: paths.podsOf(status), name: count(size, 'pod') }
}

function ofEndpoint({ id, name, workers: { max } }: Endpoint, queue: Queue | undefined): AttentionLine[] {
  if (queue === undefined) return []
  const { jobs, workers } = queue
  const line = { key: `endpoint/${id}`, to: paths.endpoint(id), name }
  if (workers.unhealthy > 0) return [{ ...line, text: `${count(workers.unhealthy, 'worker')} unhealthy`, isBad: true }]
  const waiting = `${count(jobs.inQueue, 'job')} in the queue`
  if (jobs.inQueue > 0 && workers.throttled > 0)
    return [{ ...line, text: `${waiting}, and no machine has room for a worker`, isBad: false }]
  if (jobs.inQueue > 0 && max === 0) return [{ ...line, text: `${waiting}, and its maximum of workers is 0`, isBad: false }]
  return []
}

function ofCluster({ id, name, pods: { byStatus } }: Cluster): AttentionLine[] {
  const failed = byStatus.ERROR ?? 0
  return failed === 0
    ? []
    : [{ key: `cluster/${id}`, to: paths.cluster(id), name, text: `${count(failed, 'member')} in ERROR`, isBad: true }]
}

const PLACES = { POD: paths.pod, ENDPOINT: paths.endpoint, CLUSTER: paths.cluster, NETWORK_VOLUME: () => paths.volumes() } as const

function ofIdle({ kind, id, name, idleSince, idleWaste, idleCount, runningCount }: SpendItem, nowMs: number): AttentionLine[] {
  const idleMs = idleSince === null ? 0 : nowMs - Date.parse(idleSince)
  if (idleMs < IDLE_MS) return []
  const wasted = idleWaste === null || idleWaste === 0 ? '' : `: ${money(idleWaste)} wasted`
  const who = idleCount < runningCount ? `${idleCount} of ${runningCount} have` : 'has'
  return [{ key: `idle/${id}`, to: PLACES[kind](id), name, text: `${who} been idle for ${duration(idleMs)}${wasted}`, isBad: false }]
}
