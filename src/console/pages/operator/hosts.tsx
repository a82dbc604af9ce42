import type { Host } from '../../../contract/hosts/hosts.ts'
import { useLive } from '../../hooks/live.ts'
import { paths } from '../../hooks/paths.ts'
import { useUrlState } from '../../hooks/url-state.ts'
import { SelectField } from '../../parts/form/field.tsx'
import { count } from '../../parts/format.ts'
import { A } from '../../parts/link.tsx'
import { Page } from '../../parts/page.tsx'
import { State } from '../../parts/state.tsx'
import { LiveTable } from '../../parts/table.tsx'
import { Ago } from '../../parts/time.tsx'
import { Amount, Gpus } from './amounts.tsx'

const BUTTON = 'bg-fill inline-flex min-h-8 items-center rounded-md px-3 py-1 font-medium text-white hover:brightness-110'

/** All hosts; those that need attention come first. */
export function HostsPage() {
  const hosts = useLive(['operator', 'hosts'], (api, signal) => api.listHosts({}, { signal }))
  const [shown, show] = useUrlState('show', 'all')
  return (
    <Page
      title="Hosts"
      actions={
        <A to={paths.addMachine()} className={BUTTON}>
          Add a machine
        </A>
      }
    >
      <div className="max-w-48">
        <SelectField label="Filter" value={shown} onChange={(event) => show(event.target.value)}>
          <option value="all">All</option>
          <option value="trouble">With problems</option>
          <option value="cordoned">Cordoned</option>
        </SelectField>
      </div>
      <LiveTable
        of={hosts}
        rows={(data) => data.hosts.filter((host) => isShown(host, shown)).toSorted((a, b) => rank(a) - rank(b))}
        empty={{ title: 'No machine has joined yet', command: 'npm run admin -- join-tokens create' }}
        isEmpty={(data) => data.hosts.length === 0}
        caption="Hosts"
        keyOf={({ id }) => id}
        columns={[
          { title: 'Name', show: ({ id, name }) => <A to={paths.host(id)}>{name}</A> },
          { title: 'State', show: (host) => <HostState of={host} /> },
          { title: 'Location', isMinor: true, show: ({ dataCenterId }) => <span className="whitespace-nowrap">{dataCenterId}</span> },
          { title: 'Workloads', show: ({ workloads }) => `${count(workloads.pods, 'pod')}, ${count(workloads.workers, 'worker')}` },
          { title: 'GPUs', show: ({ gpus }) => <Gpus of={gpus} /> },
          { title: 'vCPUs', isMinor: true, show: ({ vcpu }) => <Amount of={vcpu} /> },
          { title: 'Memory', isMinor: true, show: ({ memoryGb }) => <Amount of={memoryGb} unit="GB" /> },
          { title: 'Last seen', isMinor: true, show: ({ lastSeenAt }) => <Ago at={lastSeenAt} /> },
        ]}
      />
    </Page>
  )
}

const isInTrouble = ({ health, gpuProblems }: Host) => health !== 'HEALTHY' || gpuProblems.length > 0

function isShown(host: Host, shown: string): boolean {
  if (shown === 'trouble') return isInTrouble(host)
  return shown === 'cordoned' ? host.cordon !== null : true
}

function rank(host: Host): number {
  if (isInTrouble(host)) return 0
  return host.cordon === null ? 2 : 1
}

/** Health of a host, and whether it is cordoned or draining. */
export function HostState({ of: { status, health, cordon, draining } }: { of: Host }) {
  return (
    <span className="flex flex-wrap gap-1">
      <State value={health === 'HEALTHY' ? status : health} />
      {draining ? <State value="DRAINING" /> : cordon !== null && <State value="CORDONED" />}
    </span>
  )
}
