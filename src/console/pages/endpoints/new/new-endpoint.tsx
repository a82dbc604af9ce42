import { useGo } from '../../../hooks/params.ts'
import { paths } from '../../../hooks/paths.ts'
import { useApi } from '../../../hooks/session.ts'
import { useWhole } from '../../../hooks/whole.ts'
import { Button } from '../../../parts/button.tsx'
import { ContainerFields } from '../../../parts/container/container-fields.tsx'
import { containerProblems } from '../../../parts/container/container-form.ts'
import { SelectField, TextField } from '../../../parts/form/field.tsx'
import { Form, Options, Refusal, Submit, useForm } from '../../../parts/form/form.tsx'
import { Hardware } from '../../../parts/hardware/hardware.tsx'
import { workerGpus } from '../../../parts/hardware/offers.ts'
import { Page, Panel } from '../../../parts/page.tsx'
import { ScalerFields } from '../scaler-fields.tsx'
import { EMPTY_ENDPOINT, type EndpointText, endpointBody, missingOf, ofType, takenFrom } from './new-endpoint-form.ts'
import { EndpointPreview, useEndpointPreview } from './preview.tsx'

const MAY_NOT = 'Your role in this account may not create endpoints.'

/** Form that creates an endpoint; each error is shown beside its field. */
export function NewEndpointPage() {
  const { api, may, refresh } = useApi()
  const go = useGo()
  const { isBusy, errors, refusal, send, text, set, input } = useForm<EndpointText>(EMPTY_ENDPOINT)
  const { data: templates } = useWhole(['templates'], (api, query, signal) => api.listTemplates({ query }, { signal }), { everyMs: 0 })
  const body = endpointBody(text)
  const isUnread = Object.keys(containerProblems(text.container)).length > 0
  const missing = isUnread ? 'Some fields are invalid.' : missingOf({ ...text, name: text.name || 'endpoint' })
  const preview = useEndpointPreview(body, missing === undefined && may('serverless:write'))
  const reason = !may('serverless:write') ? MAY_NOT : isUnread ? 'Some fields are invalid.' : missingOf(text)
  const submit = async () => {
    if (isBusy || reason !== undefined) return
    const made = await send(() => api.createEndpoint({ body }), 'The endpoint is created')
    if (made === undefined) return
    await refresh('endpoints')
    go(paths.endpoint(made.id))
  }
  const choose = (part: Partial<EndpointText>) => set({ ...part, taken: {} })
  return (
    <Page title="New endpoint">
      <Form onSubmit={submit} className="grid gap-4 lg:grid-cols-[minmax(0,1fr)_20rem]">
        <div className="flex min-w-0 flex-col gap-4">
          <Refusal text={refusal} />
          <Panel title="General">
            <div className="flex flex-col gap-4">
              <TextField label="Name" autoComplete="off" {...input('name')} />
              <SelectField label="Type" value={text.type} error={errors.of('type')} onChange={({ target }) => set(ofType(target.value))}>
                <option value="QUEUE">Queue: jobs wait for a worker</option>
                <option value="LOAD_BALANCER">Load balancing: requests go straight to a worker</option>
              </SelectField>
              <SelectField label="Template" {...input('templateId')} hint="Provides the values of fields that are empty below.">
                <option value="">None</option>
                <Options of={(templates ?? []).filter(({ serverless }) => serverless).map(({ id, name }) => [id, name])} />
              </SelectField>
              <ContainerFields text={text.container} onChange={(container) => set({ container })} errors={errors} />
            </div>
          </Panel>
          <Panel title="Worker hardware">
            <Hardware
              product="SERVERLESS"
              text={text}
              onChange={choose}
              errors={errors}
              gpu={{
                chosen: text.pool,
                onChoose: (pool) => choose({ pool }),
                offersOf: workerGpus,
                error: errors.of('gpu.pools') ?? errors.of('gpu'),
              }}
            />
          </Panel>
          <Panel title="Workers">
            <ScalerFields text={text} onChange={set} errors={errors} isQueue={text.type === 'QUEUE'} />
          </Panel>
        </div>
        <div className="flex flex-col gap-4 lg:sticky lg:top-16 lg:self-start">
          <EndpointPreview answer={preview} missing={missing} onTake={(asked) => set({ taken: takenFrom(text, asked) })} />
          {Object.keys(text.taken).length > 0 && (
            <div className="flex flex-wrap items-center gap-2">
              <span>Applied from the suggestion: {Object.keys(text.taken).join(', ')}.</span>
              <Button onClick={() => set({ taken: {} })}>Undo</Button>
            </div>
          )}
          <Submit isBusy={isBusy} disabledReason={reason} call={{ method: 'POST', path: '/v2/serverless', body }}>
            Create endpoint
          </Submit>
        </div>
      </Form>
    </Page>
  )
}
