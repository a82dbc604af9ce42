import type { Endpoint } from '../../../../contract/endpoints/endpoints.ts'
import { useDebounced } from '../../../hooks/debounced.ts'
import { useApi } from '../../../hooks/session.ts'
import { Button } from '../../../parts/button.tsx'
import { CopyAs } from '../../../parts/copy/copy-as.tsx'
import { EnvFields } from '../../../parts/env/env-fields.tsx'
import { TextField } from '../../../parts/form/field.tsx'
import { Form, inputsOf, useForm } from '../../../parts/form/form.tsx'
import { Panel } from '../../../parts/page.tsx'
import { Plan } from '../../../parts/plan/plan.tsx'
import { Pre } from '../../../parts/pre.tsx'
import { ScalerFields } from '../scaler-fields.tsx'
import { DeleteEndpoint } from './delete-endpoint.tsx'
import { type SettingsText, settingsChanges, settingsProblem, settingsText } from './settings-form.ts'

const MAY_NOT = 'Your role in this account may not change endpoints.'

/** Form with the changeable settings of an endpoint. It sends only the differences and previews them first. */
export function Settings({ of: endpoint }: { of: Endpoint }) {
  const { api, may, refresh } = useApi()
  const before = settingsText(endpoint)
  // Holds only the fields that the user has typed; the others follow the endpoint.
  const { isBusy, errors, refusal, send, text: typed, set, setText: setTyped } = useForm<Partial<SettingsText>>({})
  const text = { ...before, ...typed }
  const body = settingsChanges(text, before)
  const isSame = Object.keys(body).length === 0
  const debounced = useDebounced(JSON.stringify(body))
  const problem = settingsProblem(text)
  const reason = !may('serverless:write') ? MAY_NOT : problem !== undefined ? problem : isSame ? 'There are no changes.' : undefined
  const { input } = inputsOf(text, set, errors)
  const submit = async () => {
    if (reason !== undefined || isBusy) return
    const saved = await send(() => api.updateEndpoint({ path: { id: endpoint.id }, body }), 'The endpoint is changed')
    if (saved === undefined) return
    setTyped({})
    await refresh('endpoints')
  }
  return (
    <div className="flex flex-col gap-4">
      <Panel title="Settings">
        <Form onSubmit={submit} refusal={refusal} className="flex max-w-2xl flex-col gap-4">
          <TextField label="Name" {...input('name')} />
          <TextField label="Image" spellCheck={false} {...input('image')} />
          <ScalerFields text={text} onChange={set} errors={errors} isQueue={endpoint.type === 'QUEUE'} />
          <TextField label="Job timeout (seconds)" inputMode="numeric" {...input('timeoutSeconds', 'timeout')} />
          <EnvFields rows={text.env} error={errors.of('env')} onChange={(env) => set({ env })} />
          {!isSame && problem === undefined && debounced !== '{}' && (
            <div aria-live="polite" className="flex flex-col gap-2">
              <Plan of={{ method: 'PATCH', path: `/v2/serverless/${endpoint.id}`, body: JSON.parse(debounced) }} />
              <Pre>{JSON.stringify(body, null, 2)}</Pre>
            </div>
          )}
          <div className="flex flex-wrap gap-2">
            <Button type="submit" kind="primary" isBusy={isBusy} disabledReason={reason}>
              Save
            </Button>
            <Button disabledReason={isSame && problem === undefined ? 'There are no changes.' : undefined} onClick={() => setTyped({})}>
              Reset
            </Button>
            <CopyAs call={{ method: 'PATCH', path: `/v2/serverless/${endpoint.id}`, body }} />
          </div>
        </Form>
      </Panel>
      <DeleteEndpoint of={endpoint} offReason={may('serverless:write') ? undefined : MAY_NOT} />
    </div>
  )
}
