import { useState } from 'react'
import type { Pod, UpdatePodRequest } from '../../../../contract/pods/pods.ts'
import { useApi } from '../../../hooks/session.ts'
import { ContainerFields, LabelsField } from '../../../parts/container/container-fields.tsx'
import { CheckField, TextField } from '../../../parts/form/field.tsx'
import { Form, Submit, useForm } from '../../../parts/form/form.tsx'
import { Panel } from '../../../parts/page.tsx'
import { changesOf, needsNewContainer, type SettingsText, settingsProblem, settingsText } from './settings-form.ts'

/** Form with the changeable settings of a pod; it states before saving whether the pod restarts (POD-13). */
export function Settings({ pod }: { pod: Pod }) {
  const { api, may, refresh } = useApi()
  const [before, setBefore] = useState(() => settingsText(pod))
  const { isBusy, errors, refusal, send, text, set, setText, input, check } = useForm(before)
  const body = changesOf(text, before)
  const submit = async () => {
    if (isBusy || Object.keys(body).length === 0) return
    const answer = await send(() => api.updatePod({ path: { id: pod.id }, body }), 'Settings saved')
    if (answer === undefined) return
    const saved = settingsText(answer)
    setBefore(saved)
    setText(saved)
    await refresh('pods')
  }
  const reason = reasonNot(pod, text, body, may('pods:write'))
  return (
    <Panel title="Settings">
      <Form onSubmit={submit} refusal={refusal} className="flex max-w-2xl flex-col gap-4">
        <TextField label="Name" autoComplete="off" {...input('name')} />
        <LabelsField {...input('labels')} />
        <ContainerFields text={text.container} onChange={(container) => set({ container })} errors={errors} />
        {pod.mounts.persistent && (
          <TextField
            label="Persistent mount (GB)"
            inputMode="numeric"
            autoComplete="off"
            hint="It can only grow."
            {...input('persistentGb', 'mounts')}
          />
        )}
        <CheckField label="Locked" hint="It cannot be stopped or restarted before it is unlocked." {...check('locked')} />
        <CheckField label="Private address for the account's other pods" {...check('globalNetworking')} />
        <CheckField
          label="Start it on another machine if its machine is lost"
          hint="With an empty container disk. Otherwise it waits for its machine."
          {...check('isReplaced', 'onHostLoss')}
        />
        <Effect pod={pod} body={body} />
        <Submit isBusy={isBusy} disabledReason={reason} call={{ method: 'PATCH', path: `/v2/pods/${pod.id}`, body }}>
          Save
        </Submit>
      </Form>
    </Panel>
  )
}

function reasonNot({ cluster }: Pod, text: SettingsText, body: UpdatePodRequest, mayWrite: boolean): string | undefined {
  if (!mayWrite) return 'Your role may view pods but not change them.'
  if (cluster !== undefined) return 'The pod is a member of a cluster and must stay identical to the other members.'
  return settingsProblem(text) ?? (Object.keys(body).length === 0 ? 'There are no changes.' : undefined)
}

function Effect({ pod: { status }, body }: { pod: Pod; body: UpdatePodRequest }) {
  if (!needsNewContainer(body)) return null
  const isDown = status === 'EXITED' || status === 'ERROR'
  return (
    <p role="status" className="bg-warn-bg text-warn rounded-md p-3">
      {isDown
        ? 'At its next start the pod gets a new container. Data on its container disk is then lost; mounts stay.'
        : 'Saving starts the pod in a new container at once. Data on its container disk is lost; mounts stay.'}
    </p>
  )
}
