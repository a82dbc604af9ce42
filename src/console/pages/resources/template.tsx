import { useState } from 'react'
import type { Template } from '../../../contract/resources/templates.ts'
import { useLive } from '../../hooks/live.ts'
import { useGo, useParam } from '../../hooks/params.ts'
import { paths } from '../../hooks/paths.ts'
import { useApi } from '../../hooks/session.ts'
import { LinkButton } from '../../parts/button.tsx'
import { ContainerFields } from '../../parts/container/container-fields.tsx'
import { containerProblems } from '../../parts/container/container-form.ts'
import { CheckField, TextField } from '../../parts/form/field.tsx'
import { Form, Submit, useForm } from '../../parts/form/form.tsx'
import { DeleteButton } from '../../parts/over/confirm-button.tsx'
import { Page, Panel } from '../../parts/page.tsx'
import { ViewState } from '../../parts/view-state.tsx'
import { createBody, EMPTY_TEMPLATE, templateText, updateBody } from './template-form.ts'

const NO_RIGHT = 'Your role may view templates but not change them.'
const FLAGS = [
  ['serverless', 'For endpoints, not for pods'],
  ['public', 'Every account may read and use it, environment included'],
  ['startSsh', 'SSH access'],
  ['startJupyter', 'Gives its pods a JUPYTER_PASSWORD'],
] as const

/** Page of one template; at the address `new` it creates one. */
export function TemplatePage() {
  const id = useParam('id')
  return id === 'new' ? (
    <Page title="New template">
      <TemplateForm template={null} />
    </Page>
  ) : (
    <KnownTemplate id={id} />
  )
}

function KnownTemplate({ id }: { id: string }) {
  const go = useGo()
  const { may } = useApi()
  const template = useLive(['templates', id], (api, signal) => api.getTemplate({ path: { id } }, { signal }), { everyMs: 30_000 })
  const { data } = template
  const leave = () => go(paths.templates())
  return (
    <Page
      title={data?.name ?? 'Template'}
      actions={
        data && (
          <>
            {!data.serverless && <LinkButton to={`${paths.newPod()}?template=${encodeURIComponent(id)}`}>New pod from template</LinkButton>}
            <DeleteButton
              name={data.name}
              path={`/v2/templates/${id}`}
              remove={(api) => api.deleteTemplate({ path: { id } })}
              refresh="templates"
              noRight={may('templates:write') ? undefined : NO_RIGHT}
              losesData
              onDone={leave}
            >
              <p>Pods and endpoints that were created from it do not change.</p>
            </DeleteButton>
          </>
        )
      }
    >
      <ViewState of={template}>{(found) => <TemplateForm key={found.id} template={found} />}</ViewState>
    </Page>
  )
}

function TemplateForm({ template }: { template: Template | null }) {
  const { api, may, refresh } = useApi()
  const go = useGo()
  const [before, setBefore] = useState(() => (template === null ? EMPTY_TEMPLATE : templateText(template)))
  const { isBusy, errors, refusal, send, text, set, setText, input, check } = useForm(before)
  const changes = updateBody(text, before)
  const create = async () => {
    const made = await send(() => api.createTemplate({ body: createBody(text) }), 'The template is created')
    if (made) go(paths.template(made.id))
  }
  const update = async (id: string) => {
    const saved = await send(() => api.updateTemplate({ path: { id }, body: changes }), 'The template is saved')
    if (saved === undefined) return
    setBefore(templateText(saved))
    setText(templateText(saved))
  }
  const unread = Object.values(containerProblems(text.container))[0]
  const unchanged = template !== null && Object.keys(changes).length === 0 ? 'There are no changes.' : undefined
  const reason = may('templates:write') ? (unread ?? unchanged) : NO_RIGHT
  const submit = async () => {
    if (isBusy || reason !== undefined) return
    await (template === null ? create() : update(template.id))
    await refresh('templates')
  }
  return (
    <Panel>
      <Form onSubmit={submit} refusal={refusal} className="flex max-w-2xl flex-col gap-4">
        <TextField label="Name" required autoComplete="off" {...input('name')} />
        <ContainerFields text={text.container} onChange={(container) => set({ container })} errors={errors} isImageRequired />
        <TextField
          label="Persistent mount (GB)"
          inputMode="numeric"
          autoComplete="off"
          hint="At /workspace, on the pod's own machine. Empty: none."
          {...input('persistentGb', 'mounts')}
        />
        {FLAGS.map(([name, label]) => (
          <CheckField key={name} label={label} {...check(name)} />
        ))}
        <Submit
          isBusy={isBusy}
          disabledReason={reason}
          call={
            template === null
              ? { method: 'POST', path: '/v2/templates', body: createBody(text) }
              : { method: 'PATCH', path: `/v2/templates/${template.id}`, body: changes }
          }
        >
          {template === null ? 'Create template' : 'Save'}
        </Submit>
      </Form>
    </Panel>
  )
}
