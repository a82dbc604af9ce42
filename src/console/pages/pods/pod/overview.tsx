import type { Pod } from '../../../../contract/pods/pods.ts'
import { useLive } from '../../../hooks/live.ts'
import { paths } from '../../../hooks/paths.ts'
import { useApi } from '../../../hooks/session.ts'
import { writeLabels } from '../../../parts/container/text-lists.ts'
import { ExplanationPanel } from '../../../parts/explain/explanation-panel.tsx'
import { duration, money, perHour } from '../../../parts/format.ts'
import { A } from '../../../parts/link.tsx'
import { Panel } from '../../../parts/page.tsx'
import { State } from '../../../parts/state.tsx'
import { Facts } from '../../../parts/table.tsx'
import { Ago } from '../../../parts/time.tsx'
import { hardwareOf } from '../pod-acts.ts'
import { Deadlines } from './deadlines.tsx'

/** State, cost and deadlines of the pod. */
export function Overview({ pod }: { pod: Pod }) {
  return (
    <div className="grid gap-4 lg:grid-cols-2">
      {pod.status !== 'RUNNING' && pod.status !== 'TERMINATED' && <Why pod={pod} />}
      <Panel title="State">
        <Facts rows={stateOf(pod)} />
      </Panel>
      <Panel title="Cost">
        <Cost pod={pod} />
      </Panel>
      <Panel title="Machine">
        <Facts rows={machineOf(pod)} />
      </Panel>
      <Deadlines pod={pod} />
    </div>
  )
}

function Why({ pod: { id } }: { pod: Pod }) {
  const { may } = useApi()
  const why = useLive(['pods', id, 'why'], (api, signal) => api.explainPod({ path: { id } }, { signal }))
  return (
    <div className="lg:col-span-2">
      <ExplanationPanel of={why} mayWrite={may('pods:write')} refresh="pods" />
    </div>
  )
}

type Rows = Parameters<typeof Facts>[0]['rows']

function stateOf({ status, statusReason, runtime, createdAt, startedAt, cluster, labels }: Pod): Rows {
  return [
    ['State', <State key="state" value={status} />],
    ...(statusReason === null ? [] : [['Reason', statusReason] as const]),
    ['Started', <Ago key="started" at={startedAt} />],
    ...(runtime?.uptime === undefined ? [] : [['Uptime', duration(runtime.uptime * 1_000)] as const]),
    ['Created', <Ago key="created" at={createdAt} />],
    ...(cluster === undefined ? [] : [['Cluster', memberOf(cluster)] as const]),
    ...(Object.keys(labels).length === 0 ? [] : [['Labels', writeLabels(labels)] as const]),
    ...usageOf(runtime),
  ]
}

function memberOf({ id, rank }: NonNullable<Pod['cluster']>) {
  return (
    <>
      <A to={paths.cluster(id)}>{id}</A>
      {rank === null ? '' : `, rank ${rank}`}
    </>
  )
}

function usageOf(runtime: Pod['runtime']): Rows {
  const gpus = runtime?.gpus ?? []
  return [
    ...gpus.map(({ util, memoryUtil }, index) => [`GPU ${index}`, `${util} % busy, ${memoryUtil} % of memory`] as const),
    ...(runtime?.cpu ? [['CPU', `${runtime.cpu.util} % busy`] as const] : []),
    ...(runtime?.memory ? [['Memory', `${runtime.memory.util} % used`] as const] : []),
  ]
}

function machineOf(pod: Pod): Rows {
  const size = pod.gpu ?? pod.cpu
  return [
    ['Hardware', hardwareOf(pod)],
    ...(size === undefined ? [] : [['Size', `${size.vcpuCount} vCPU, ${size.memory} GB of memory`] as const]),
    ['Image', <code key="image">{pod.image}</code>],
    ['Data center', pod.dataCenterId ?? '–'],
    ['Cloud', pod.cloud],
    ['CUDA', pod.cudaVersion ?? '–'],
    ['Container disk', `${pod.disk} GB`],
    ...mountsOf(pod),
    ['Id', <code key="id">{pod.id}</code>],
  ]
}

function mountsOf({ mounts: { persistent, network = [], global = [] } }: Pod): Rows {
  return [
    ...(persistent === undefined ? [] : [['Persistent mount', `${persistent.size} GB at ${persistent.path}`] as const]),
    ...network.map(({ volumeId, path }) => ['Network volume', `${volumeId} at ${path}`] as const),
    ...global.map(({ volumeId, path }) => ['Global volume', `${volumeId} at ${path}`] as const),
  ]
}

function Cost({ pod }: { pod: Pod }) {
  const query = { podId: pod.id, bucketSize: 'year', startTime: pod.createdAt }
  const bill = useLive(['spend', pod.id], (api, signal) => api.listPodBilling({ query }, { signal }), { everyMs: 30_000 })
  return (
    <Facts
      rows={[
        ['Now', perHour(pod.cost)],
        ['So far', bill.data === undefined ? '–' : money(bill.data.metadata.totals.totalAmount)],
      ]}
    />
  )
}
