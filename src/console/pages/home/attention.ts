import type { ApiClient } from '../../../client/client.ts'
import type { SpendItem } from '../../../contract/billing/spending.ts'
import type { Cluster } from '../../../contract/clusters/clusters.ts'
import type { Endpoint } from '../../../contract/endpoints/endpoints.ts'
import type { Pod } from '../../../contract/pods/pods.ts'
import { paths } from '../../hooks/paths.ts'
import { count, duration, money } from '../../parts/format.ts'

export type Queue = Pick<Awaited<ReturnType<ApiClient['getQueueHealth']>>, 'jobs' | 'workers'>

/** Data of an account that Home shows. */
export interface Overview {
  pods: readonly Pod[]
  endpoints: readonly Endpoint[]
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

/** Lines that need attention: failures first, then waiting work and idle resources that cost money (UI-27). */
export function attentionOf({ pods, endpoints, clusters, queues, spend, nowMs }: Overview): AttentionLine[] {
  const lines = [
    ...pods.flatMap(ofPod),
    ...endpoints.flatMap((endpoint) => ofEndpoint(endpoint, queues.get(endpoint.id))),
    ...clusters.flatMap(ofCluster),
    ...spend.flatMap((item) => ofIdle(item, nowMs)),
  ]
  return lines.toSorted((a, b) => Number(b.isBad) - Number(a.isBad))
}

function ofPod({ id, name, status, statusReason }: Pod): AttentionLine[] {
  const line = { key: `pod/${id}`, to: paths.pod(id), name }
  if (status === 'ERROR') return [{ ...line, text: statusReason ?? 'has failed', isBad: true }]
  const isWaiting = status === 'PROVISIONING' || status === 'STARTING'
  return isWaiting && statusReason !== null ? [{ ...line, text: statusReason, isBad: false }] : []
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
