import type { Cluster } from '../../../contract/clusters/clusters.ts'
import type { Pod } from '../../../contract/pods/pods.ts'
import { useLive } from '../../hooks/live.ts'
import { useGo, useParam } from '../../hooks/params.ts'
import { paths } from '../../hooks/paths.ts'
import { useApi } from '../../hooks/session.ts'
import { CopyAs } from '../../parts/copy/copy-as.tsx'
import { ExplanationPanel } from '../../parts/explain/explanation-panel.tsx'
import { perHour } from '../../parts/format.ts'
import { A } from '../../parts/link.tsx'
import { ConfirmButton } from '../../parts/over/confirm-button.tsx'
import { Page, Panel } from '../../parts/page.tsx'
import { State } from '../../parts/state.tsx'
import { Facts, Table } from '../../parts/table.tsx'
import { Ago } from '../../parts/time.tsx'
import { Command, ViewState } from '../../parts/view-state.tsx'
import { Members } from './members.tsx'
import { Rename } from './rename.tsx'

const NO_RIGHT = 'Your role may view clusters but not change them.'

/** Page of a cluster: its members by rank, their network, and its deletion. */
export function ClusterPage() {
  const id = useParam('id')
  const cluster = useLive(['clusters', id], (api, signal) => api.getCluster({ path: { id } }, { signal }))
  const members = useLive(['clusters', id, 'pods'], (api, signal) => api.listClusterPods({ path: { id } }, { signal }))
  const why = useLive(['clusters', id, 'why'], (api, signal) => api.explainCluster({ path: { id } }, { signal }))
  return (
    <Page title={cluster.data?.name ?? 'Cluster'} actions={cluster.data && <Acts cluster={cluster.data} />}>
      <ViewState of={cluster}>
        {(found) => (
          <div className="grid gap-4 lg:grid-cols-2">
            <Panel title="Cluster">
              <Facts rows={factsOf(found, members.data?.pods ?? [])} />
            </Panel>
            <Panel title="Network">
              <Network cluster={found} />
            </Panel>
          </div>
        )}
      </ViewState>
      <ExplanationPanel of={why} mayWrite={false} refresh="clusters" />
      <ViewState of={members}>{({ pods }) => <MemberTable pods={pods} />}</ViewState>
    </Page>
  )
}

function factsOf({ type, pods, compute, dataCenterId, template, onHostLoss, createdAt, id }: Cluster, members: readonly Pod[]) {
  return [
    ['Type', type],
    ['Members', <Members key="members" pods={pods} />],
    ['Per member', `${compute.gpuCountPerPod} × ${compute.gpuTypeId}`],
    ['Price', perHour(members.reduce((sum, { cost }) => sum + cost, 0))],
    ['Data center', dataCenterId ?? '–'],
    ...(template === undefined ? [] : [['Template', template] as const]),
    ['If a host is lost', onHostLoss === 'REPLACE' ? 'its members start on another host' : 'its members wait for it'],
    ['Created', <Ago key="created" at={createdAt} />],
    ['Id', <code key="id">{id}</code>],
  ] as const
}

function Network({ cluster: { network, primary } }: { cluster: Cluster }) {
  const [host, port] = primary?.sshEndpoint?.split(':') ?? []
  return (
    <div className="flex flex-col gap-3">
      <Facts
        rows={[
          [
            'Address range',
            network === undefined ? 'none until the members have connected to each other' : <code key="cidr">{network.cidr}</code>,
          ],
          ...(network?.vxlanId === undefined ? [] : [['VXLAN', `${network.vxlanId}, UDP port ${network.vxlanPort ?? '–'}`] as const]),
          ...(primary === undefined
            ? []
            : [
                [
                  'Primary',
                  <span key="primary" className="flex flex-wrap items-center gap-2">
                    <A to={paths.pod(primary.podId)}>{primary.podId}</A> <State value={primary.status} />
                  </span>,
                ] as const,
              ]),
        ]}
      />
      {host !== undefined && <Command text={`ssh root@${host} -p ${port}`} />}
    </div>
  )
}

function MemberTable({ pods }: { pods: readonly Pod[] }) {
  return (
    <Table
      caption="Members"
      rows={pods.toSorted((a, b) => (a.cluster?.rank ?? Infinity) - (b.cluster?.rank ?? Infinity))}
      keyOf={({ id }) => id}
      columns={[
        { title: 'Rank', isNumber: true, show: ({ cluster }) => cluster?.rank ?? '–' },
        { title: 'Pod', show: ({ id, name }) => <A to={paths.pod(id)}>{name}</A> },
        { title: 'State', show: ({ status }) => <State value={status} /> },
        { title: 'Role', isMinor: true, show: ({ cluster }) => cluster?.role ?? '–' },
        { title: 'Address', isMinor: true, show: ({ cluster }) => <code>{cluster?.ip ?? '–'}</code> },
        { title: 'Reason', isMinor: true, show: ({ statusReason }) => statusReason ?? '–' },
      ]}
    />
  )
}

function Acts({ cluster }: { cluster: Cluster }) {
  const { may } = useApi()
  const go = useGo()
  const noRight = may('clusters:write') ? undefined : NO_RIGHT
  return (
    <>
      <Rename cluster={cluster} noRight={noRight} />
      <ConfirmButton
        title={`Delete ${cluster.name}?`}
        verb="Delete"
        disabledReason={noRight}
        act={(api) => api.deleteCluster({ path: { id: cluster.id } })}
        done="The cluster is deleted"
        refresh={['clusters']}
        onDone={() => go(paths.clusters())}
        typed={cluster.name}
        plan={{ method: 'DELETE', path: `/v2/clusters/${cluster.id}` }}
      >
        <p>This cannot be undone.</p>
      </ConfirmButton>
      <CopyAs call={{ method: 'DELETE', path: `/v2/clusters/${cluster.id}`, command: `clusters delete ${cluster.id}` }} />
    </>
  )
}
