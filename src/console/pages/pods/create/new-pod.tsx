import type { CreatePodRequest } from '../../../../contract/pods/pods.ts'
import { type FieldErrors, fieldErrors } from '../../../hooks/field-errors.ts'
import { useGo } from '../../../hooks/params.ts'
import { paths } from '../../../hooks/paths.ts'
import { useApi } from '../../../hooks/session.ts'
import { useUrlState } from '../../../hooks/url-state.ts'
import { ContainerFields, LabelsField } from '../../../parts/container/container-fields.tsx'
import { containerProblems } from '../../../parts/container/container-form.ts'
import { CheckField, SelectField, TextField } from '../../../parts/form/field.tsx'
import { type FieldsProps, Form, inputsOf, Options, Refusal, Submit, useForm } from '../../../parts/form/form.tsx'
import { duration } from '../../../parts/format.ts'
import { Page, Panel } from '../../../parts/page.tsx'
import { HOURS, IDLE_MINUTES } from '../deadline.ts'
import { HardwareFields } from './hardware-fields.tsx'
import { EMPTY_POD, missingOf, type PodText, podBody, withOption } from './pod-form.ts'
import { PreviewPanel, usePodPreview } from './preview.tsx'
import { StorageFields } from './storage-fields.tsx'
import { TemplateField } from './template-field.tsx'

/**
 * Form that creates a pod; a dry run shows placement and cost while the user types, and nothing is created before the button is pressed.
 */
export function NewPodPage() {
  const { api, may, refresh } = useApi()
  const go = useGo()
  const [template] = useUrlState('template', '')
  const { isBusy, errors, refusal, send, text, set, setText } = useForm<PodText>({ ...EMPTY_POD, templateId: template })
  const preview = usePodPreview(text)
  const both: FieldErrors = { ...errors, of: (path) => errors.of(path) ?? fieldErrors(preview.error).of(path) }
  const make = async (body: CreatePodRequest) => {
    const pod = await send(() => api.createPod({ body }), 'The pod is created')
    if (pod === undefined) return
    await refresh('pods')
    go(paths.pod(pod.id))
  }
  const { input } = inputsOf(text, set, both)
  const submit = () => {
    if (!isBusy && reason === undefined) void make(podBody(text, Date.now()))
  }
  const unread = Object.values(containerProblems(text.container))[0]
  const reason = may('pods:write') ? (unread ?? missingOf(text)) : 'Your role may view pods but not create them.'
  return (
    <Page title="New pod">
      <Form onSubmit={submit} className="grid items-start gap-4 lg:grid-cols-[minmax(0,1fr)_20rem]">
        <div className="flex min-w-0 flex-col gap-4">
          <Panel title="Container">
            <div className="flex flex-col gap-4">
              <TextField label="Name" required autoComplete="off" {...input('name')} />
              <LabelsField {...input('labels')} />
              <TemplateField {...input('templateId')} />
              <ContainerFields text={text.container} onChange={(container) => set({ container })} errors={both} />
            </div>
          </Panel>
          <Panel title="Hardware">
            <HardwareFields text={text} onChange={set} errors={both} />
          </Panel>
          <Panel title="Storage">
            <StorageFields text={text} onChange={set} errors={both} />
          </Panel>
          <Panel title="Access and automatic stop">
            <Access text={text} onChange={set} errors={both} />
          </Panel>
        </div>
        <div className="flex flex-col gap-4 lg:sticky lg:top-16">
          <PreviewPanel
            answer={preview}
            missing={unread ?? missingOf(text)}
            onTake={(body) => setText((before) => withOption(before, body))}
          />
          <Refusal text={refusal} />
          <Submit isBusy={isBusy} disabledReason={reason} call={{ method: 'POST', path: '/v2/pods', body: podBody(text, Date.now()) }}>
            Create pod
          </Submit>
        </div>
      </Form>
    </Page>
  )
}

function Access({ text, onChange, errors }: FieldsProps<PodText>) {
  const { input, check } = inputsOf(text, onChange, errors)
  return (
    <div className="flex flex-col gap-4">
      <CheckField label="SSH access" hint="With the account's SSH keys." {...check('startSsh')} />
      <CheckField label="Private address for the account's other pods" {...check('globalNetworking')} />
      <SelectField
        label="Stop automatically"
        {...input('stopAfterHours', 'stopAfter')}
        hint="The pod keeps its disks and can be started again."
      >
        <option value="">Never</option>
        <Options of={HOURS.map((one) => [one, `In ${duration(one * 3_600_000)}`])} />
      </SelectField>
      <SelectField
        label="Stop when idle"
        {...input('idleStopMinutes', 'idleStop')}
        hint="When all its GPUs are at 0 %, or its CPU is below 5 % where it has none."
      >
        <option value="">Never</option>
        <Options of={IDLE_MINUTES.map((one) => [one, `After ${duration(one * 60_000)}`])} />
      </SelectField>
    </div>
  )
}
