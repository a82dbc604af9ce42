import type { Host } from '../../../contract/hosts/hosts.ts'
import { useLive } from '../../hooks/live.ts'
import { useParam } from '../../hooks/params.ts'
import { count } from '../../parts/format.ts'
import { Page, Panel } from '../../parts/page.tsx'
import { Plan } from '../../parts/plan/plan.tsx'
import { Facts } from '../../parts/table.tsx'
import { Ago } from '../../parts/time.tsx'
import { ViewState } from '../../parts/view-state.tsx'
import { Amount, Gpus } from './amounts.tsx'
import { HostActions } from './host-actions.tsx'
import { HostState } from './hosts.tsx'

/** Page of one host: its problems, its workloads, and the actions that take it out of service. */
export function HostPage() {
  const id = useParam('id')
  const host = useLive(['operator', 'hosts', id], (api, signal) => api.getHost({ path: { id } }, { signal }))
  const { data } = host
  return (
    <Page title={data?.name ?? id} {...(data === undefined ? {} : { mark: data.health })} actions={data && <HostActions of={data} />}>
      <ViewState of={host}>{(shown) => <Details of={shown} />}</ViewState>
    </Page>
  )
}

function Details({ of: host }: { of: Host }) {
  const troubles = [
    ...(host.statusReason === null ? [] : [host.statusReason]),
    ...host.gpuProblems.map(({ gpu, problem }) => (gpu === null ? problem : `GPU ${gpu}: ${problem}`)),
  ]
  return (
    <div className="grid gap-4 lg:grid-cols-2">
      <Panel title="State">
        <div className="flex flex-col gap-3">
          <HostState of={host} />
          {troubles.length > 0 && (
            <ul className="bg-bad-bg text-bad list-disc rounded-md p-3 pl-7">
              {troubles.map((text) => (
                <li key={text}>{text}</li>
              ))}
            </ul>
          )}
          <Facts
            rows={[
              ['Last seen', <Ago key="seen" at={host.lastSeenAt} />],
              ['Joined', <Ago key="joined" at={host.createdAt} />],
              [
                'Cordoned',
                host.cordon === null ? 'no' : `by ${host.cordon.by}${host.cordon.reason === null ? '' : `: ${host.cordon.reason}`}`,
              ],
              ['Location', `${host.dataCenterId}, ${host.cloud}`],
              ['Public address', host.publicIp ?? 'none'],
              ['Ports', `${host.portRange.from} to ${host.portRange.to}`],
              ['Worker transport', transportsText(host)],
            ]}
          />
        </div>
      </Panel>
      <Panel title="Capacity">
        <Facts
          rows={[
            ['Workloads', `${count(host.workloads.pods, 'pod')}, ${count(host.workloads.workers, 'worker')}`],
            ['GPUs', <Gpus key="gpus" of={host.gpus} />],
            ['vCPUs', <Amount key="vcpu" of={host.vcpu} />],
            ['Memory', <Amount key="memory" of={host.memoryGb} unit="GB" />],
            ['Disk', <Amount key="disk" of={host.diskGb} unit="GB" />],
            ['Enforced volume sizes', host.sizesEnforced === null ? 'not reported by its agent' : host.sizesEnforced.join(', ') || 'none'],
            ['Shared volumes', host.sharedVolumes === null ? 'not reported by its agent' : host.sharedVolumes.join(', ') || 'none'],
          ]}
        />
      </Panel>
      <Panel title="Effects of a drain">
        <Plan of={{ method: 'POST', path: `/admin/v1/hosts/${host.id}/drain`, body: {} }} withAccount />
      </Panel>
      <Panel title="Isolation">
        <Facts
          rows={[
            ['Runtime', host.isolation.runtimeClass ?? 'unknown'],
            ['User namespaces', yesNo(host.isolation.userNamespaces)],
            [
              'Network isolation',
              yesNo(host.isolation.network) + (host.isolation.networkReason === null ? '' : `: ${host.isolation.networkReason}`),
            ],
            ['Private networks across hosts', privateNetworksText(host)],
            ['Accounts trust each other', host.isolation.trustedTenants ? 'yes, according to the operator' : 'no'],
          ]}
        />
        {host.isolation.missing.length > 0 && (
          <ul className="mt-3 list-disc pl-5">
            {host.isolation.missing.map((text) => (
              <li key={text}>{text}</li>
            ))}
          </ul>
        )}
      </Panel>
    </div>
  )
}

function yesNo(value: boolean | null): string {
  if (value === null) return 'unknown'
  return value ? 'yes' : 'no'
}

function transportsText({ workerTransports: of }: Host): string {
  if (of === null || of.length === 0) return of === null ? 'not reported by its agent' : 'over HTTP'
  return of.map(({ endpointId, transport }) => `${endpointId}: ${transport === 'CHANNEL' ? 'channel' : 'HTTP'}`).join(', ')
}

function privateNetworksText({ privateNetworks: said }: Host): string {
  if (said === null) return 'unknown'
  if (said.address === null) return `no${said.reason === null ? '' : `: ${said.reason}`}`
  const open = said.encryptionReason === null ? 'not encrypted' : `not encrypted: ${said.encryptionReason}`
  return `at ${said.address}, ${said.encryption === 'none' ? open : `encrypted (${said.encryption})`}`
}
