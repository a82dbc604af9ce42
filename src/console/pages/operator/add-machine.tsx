import { useState } from 'react'
import { agentCommand, isPlainHttp } from '../../../client/agent-command.ts'
import type { ApiClient } from '../../../client/client.ts'
import { JOIN_DEFAULTS } from '../../../contract/defaults.ts'
import type { Host } from '../../../contract/hosts/hosts.ts'
import { useLive } from '../../hooks/live.ts'
import { paths } from '../../hooks/paths.ts'
import { useApi } from '../../hooks/session.ts'
import { SelectField, TextField } from '../../parts/form/field.tsx'
import { Form, Submit, useForm } from '../../parts/form/form.tsx'
import { A } from '../../parts/link.tsx'
import { Page, Panel } from '../../parts/page.tsx'
import { Ago } from '../../parts/time.tsx'
import { Command, ViewState } from '../../parts/view-state.tsx'

type Token = Awaited<ReturnType<ApiClient['createJoinToken']>>

/** Join token, the command to run on the new host, and the progress of its joining. */
export function AddMachinePage() {
  const [token, setToken] = useState<Token | null>(null)
  return (
    <Page title="Add a machine">
      <Panel title="1. Create a join token">{token === null ? <NewToken onMade={setToken} /> : <Made of={token} />}</Panel>
      {token !== null && (
        <Panel title="2. Run this on the machine, as root">
          <Line token={token.token} />
        </Panel>
      )}
      {token !== null && (
        <Panel title="3. Watch it join">
          <Joined token={token} />
        </Panel>
      )}
    </Page>
  )
}

const EMPTY = { name: '', dataCenterId: '', cloud: JOIN_DEFAULTS.cloud }

function NewToken({ onMade }: { onMade: (token: Token) => void }) {
  const { api } = useApi()
  const { isBusy, refusal, send, text, input } = useForm<{ name: string; dataCenterId: string; cloud: 'SECURE' | 'COMMUNITY' }>(EMPTY)
  const { name, dataCenterId, cloud } = text
  const body = { cloud, ...(name === '' ? {} : { name }), ...(dataCenterId === '' ? {} : { dataCenterId }) }
  const submit = async () => {
    const made = await send(() => api.createJoinToken({ body }), 'The token lets one machine join')
    if (made !== undefined) onMade(made)
  }
  return (
    <Form onSubmit={submit} refusal={refusal}>
      <div className="grid gap-3 sm:grid-cols-3">
        <TextField label="Name" hint="Empty: the name of the machine." {...input('name')} />
        <TextField label="Data center" placeholder={JOIN_DEFAULTS.dataCenterId} {...input('dataCenterId')} />
        <SelectField label="Cloud" {...input('cloud')}>
          <option>SECURE</option>
          <option>COMMUNITY</option>
        </SelectField>
      </div>
      <Submit isBusy={isBusy} call={{ method: 'POST', path: '/admin/v1/join-tokens', body }}>
        Create token
      </Submit>
    </Form>
  )
}

function Made({ of: { dataCenterId, cloud, expiresAt } }: { of: Token }) {
  return (
    <p>
      One machine may join {dataCenterId} ({cloud}) with this token. The token expires <Ago at={expiresAt} />.
    </p>
  )
}

function Line({ token }: { token: string }) {
  return (
    <div className="flex flex-col gap-2">
      <Command text={agentCommand(location.origin, token)} />
      <p className="text-soft">
        The agent is one file that needs Node 22 and a container engine; the deployment guide has a systemd unit for it. If the plane is
        behind a proxy, machines may need another address of the plane.
      </p>
      {isPlainHttp(location.origin) && (
        <p className="text-warn">
          The agent refuses plain http to another machine. Use the plane's https address, or add --insecure-plane where the network itself
          is private.
        </p>
      )}
    </div>
  )
}

function Joined({ token }: { token: Token }) {
  const tokens = useLive(['operator', 'join-tokens'], (api, signal) => api.listJoinTokens({}, { signal }), { everyMs: 3_000 })
  return (
    <ViewState of={tokens}>
      {({ joinTokens }) => {
        const hostId = joinTokens.find(({ id }) => id === token.id)?.usedByHostId ?? null
        return hostId === null ? <output>Waiting for the machine to join.</output> : <CheckList id={hostId} />
      }}
    </ViewState>
  )
}

function CheckList({ id }: { id: string }) {
  const host = useLive(['operator', 'hosts', id], (api, signal) => api.getHost({ path: { id } }, { signal }), { everyMs: 3_000 })
  return (
    <ViewState of={host}>
      {(data) => (
        <div className="flex flex-col gap-3">
          <ul className="flex flex-col gap-1">
            {checks(data).map(({ what, isGood, label }) => (
              <li key={what}>
                <span aria-hidden="true" className={isGood ? 'text-good' : 'text-warn'}>
                  {isGood ? '✓' : '!'}
                </span>{' '}
                <span className="sr-only">{isGood ? 'OK:' : 'Check:'}</span> {what}: {label}
              </li>
            ))}
          </ul>
          <p>
            <A to={paths.host(id)}>Everything about {data.name}</A>
          </p>
        </div>
      )}
    </ViewState>
  )
}

function checks(host: Host): { what: string; isGood: boolean; label: string }[] {
  const gpus = host.gpus.map(({ total, typeId }) => `${total} × ${typeId}`).join(', ')
  return [
    {
      what: 'Link',
      isGood: host.status === 'ONLINE',
      label: host.status === 'ONLINE' ? 'the agent sends heartbeats' : 'the machine has joined, but its agent sends no heartbeats yet',
    },
    { what: 'Health', isGood: host.health === 'HEALTHY', label: host.statusReason ?? host.health },
    {
      what: 'Engine',
      isGood: host.runtimes.includes('docker'),
      label: host.runtimes.join(', ') || 'none: the machine runs only built-in images',
    },
    {
      what: 'GPUs',
      isGood: host.gpuProblems.length === 0,
      label: host.gpuProblems.map(({ problem }) => problem).join('; ') || gpus || 'none',
    },
    {
      what: 'Network isolation',
      isGood: host.isolation.network === true,
      label: host.isolation.networkReason ?? (host.isolation.network === true ? 'yes' : 'unknown'),
    },
  ]
}
