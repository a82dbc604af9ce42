import type { ReactNode } from 'react'
import type { Pod } from '../../../../contract/pods/pods.ts'
import { useLive } from '../../../hooks/live.ts'
import { paths } from '../../../hooks/paths.ts'
import { useSession } from '../../../hooks/session.ts'
import { useUrlState } from '../../../hooks/url-state.ts'
import { Button } from '../../../parts/button.tsx'
import { A } from '../../../parts/link.tsx'
import { Panel } from '../../../parts/page.tsx'
import { Table } from '../../../parts/table.tsx'
import { Command } from '../../../parts/view-state.tsx'
import { portAddress } from './port-address.ts'

/** Ingress of the pod: SSH, its ports, a terminal. */
export function Connect({ pod }: { pod: Pod }) {
  const [, setTab] = useUrlState('tab', 'overview')
  return (
    <div className="flex flex-col gap-4">
      {pod.status !== 'RUNNING' && <p className="text-soft">The pod is {pod.status}. You can connect when it runs.</p>}
      <Panel title="SSH">
        <Ssh pod={pod} />
      </Panel>
      <Panel title="Ports">
        <Ports pod={pod} />
      </Panel>
      <Panel title="Terminal" actions={<Button onClick={() => setTab('terminal')}>Open a terminal</Button>}>
        <p className="text-soft mb-2">Open a shell in this browser, or from your own terminal:</p>
        <Command text={`podplane exec ${pod.id}`} />
      </Panel>
    </div>
  )
}

function Ssh({ pod: { ssh } }: { pod: Pod }) {
  const keys = useLive(['ssh-keys'], (api, signal) => api.getSshKeys({}, { signal }), { everyMs: 0 })
  const ways: [string, string][] = []
  if (ssh.proxy !== null) ways.push(['Through the plane', ssh.proxy.command])
  if (ssh.direct !== null) ways.push(['Directly', ssh.direct.command])
  return (
    <div className="flex flex-col gap-3">
      {ways.map(([title, command]) => (
        <div key={title}>
          <p className="text-soft mb-1">{title}</p>
          <Command text={command} />
        </div>
      ))}
      {ways.length === 0 && <p>The pod has no SSH: it was created without SSH access, and it does not publish 22/tcp.</p>}
      {ways.length > 0 && keys.data?.keys.length === 0 && (
        <p className="bg-warn-bg text-warn rounded-md p-3">
          The account has no SSH key yet, so no one can connect. <A to={paths.sshKeys()}>Add your public key</A>, then restart the pod.
        </p>
      )}
    </div>
  )
}

interface Port {
  port: string
  way: ReactNode
}

function Ports({ pod }: { pod: Pod }) {
  const { data } = useSession()
  if (pod.ports.length === 0) {
    return <p>The pod declares no ports. Add one such as 8888/http in its settings; the pod then starts in a new container.</p>
  }
  const domain = data?.signedIn ? data.podProxyDomain : null
  const rows: Port[] = pod.ports.map((port) => ({ port, way: wayTo(pod, port, domain) }))
  return (
    <Table
      caption="Ports"
      rows={rows}
      keyOf={({ port }) => port}
      columns={[
        { title: 'Port', show: ({ port }) => <code>{port}</code> },
        { title: 'Address', show: ({ way }) => way },
      ]}
    />
  )
}

function wayTo({ id, runtime, status }: Pod, declared: string, domain: string | null): ReactNode {
  const [port = '', kind] = declared.split('/')
  if (status !== 'RUNNING') return 'Available when the pod runs'
  if (kind === 'http') {
    const address = portAddress(id, port, domain, location)
    return (
      <a className="text-accent break-all underline" href={address} target="_blank" rel="noreferrer">
        {address} <span className="inline-block">(new tab)</span>
      </a>
    )
  }
  const found = runtime?.ports?.find((one) => one.type === 'tcp' && (String(one.private) === port || String(one.public) === port))
  if (found === undefined || found.public === null) return 'Not published yet'
  return <code>{found.ip === null ? `port ${found.public} of its host, which has no public address` : `${found.ip}:${found.public}`}</code>
}
