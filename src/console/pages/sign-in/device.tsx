import { useState } from 'react'
import type { WaitingDevice } from '../../../contract/console/device.ts'
import { useLive } from '../../hooks/live.ts'
import { useApi } from '../../hooks/session.ts'
import { useSubmit } from '../../hooks/submit.ts'
import { useUrlState } from '../../hooks/url-state.ts'
import { Button } from '../../parts/button.tsx'
import { SelectField, TextField } from '../../parts/form/field.tsx'
import { Form, Refusal } from '../../parts/form/form.tsx'
import { Page, Panel } from '../../parts/page.tsx'
import { Facts } from '../../parts/table.tsx'
import { Ago } from '../../parts/time.tsx'
import { ViewState } from '../../parts/view-state.tsx'

/** Approves the code that a command line shows; the command line gets an API key of the chosen account. */
export function DevicePage() {
  const [code, setCode] = useUrlState('code', '')
  const [typed, setTyped] = useState('')
  return (
    <Page title="Approve a device">
      {code === '' ? (
        <Panel title="Which device?">
          <Form onSubmit={() => setCode(typed.trim())} className="flex max-w-sm flex-col items-start gap-3">
            <TextField
              label="Code"
              hint="The device shows it, for example podplane auth login."
              required
              autoComplete="off"
              value={typed}
              onChange={(event) => setTyped(event.target.value)}
            />
            <Button type="submit" kind="primary">
              Continue
            </Button>
          </Form>
        </Panel>
      ) : (
        <Waiting key={code} code={code} />
      )}
    </Page>
  )
}

function Waiting({ code }: { code: string }) {
  const [name] = useUrlState('name', '')
  const [proof] = useUrlState('proof', '')
  const said = name === '' || proof === '' ? '' : `?${new URLSearchParams({ name, proof })}`
  const path = `/console/device/${encodeURIComponent(code)}${said}`
  const device = useLive(['device', code], (api, signal) => api.request('GET', path, undefined, { signal }) as Promise<WaitingDevice>, {
    everyMs: 0,
  })
  return <ViewState of={device}>{(data) => <Decide of={data} />}</ViewState>
}

function Decide({ of }: { of: WaitingDevice }) {
  const { api, account } = useApi()
  const { isBusy, refusal, send } = useSubmit()
  const [permission, setPermission] = useState('ALL')
  const [done, setDone] = useState<string | null>(null)
  if (done !== null) return <output>{done}</output>
  const answer = async (verb: 'approve' | 'deny', body: object, text: string) => {
    if (await send(() => api.request('POST', `/console/device/${verb}`, body).then(() => true), text)) setDone(text)
  }
  const { userCode } = of
  const name = of.name ?? 'The device'
  return (
    <Panel title={name}>
      <div className="flex flex-col gap-4">
        <Refusal text={refusal} />
        <p>Approve only if your own device shows this code now: the device gets a key of {account.name}. The name is not verified.</p>
        <Facts
          rows={[
            ['Code', <strong key="code">{userCode}</strong>],
            ['Requested', <Ago key="at" at={of.createdAt} />],
            ['Expires', <Ago key="end" at={of.expiresAt} />],
          ]}
        />
        <div className="max-w-sm">
          <SelectField label="Permissions" value={permission} onChange={(event) => setPermission(event.target.value)}>
            <option value="ALL">All your permissions</option>
            <option value="READ_ONLY">Read only</option>
          </SelectField>
        </div>
        <div className="flex gap-2">
          <Button
            kind="primary"
            isBusy={isBusy}
            onClick={() => void answer('approve', { userCode, permission }, `${name} is approved; you may close this page.`)}
          >
            Approve
          </Button>
          <Button kind="danger" isBusy={isBusy} onClick={() => void answer('deny', { userCode }, `${name} is denied.`)}>
            Deny
          </Button>
        </div>
      </div>
    </Panel>
  )
}
