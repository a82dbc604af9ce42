import { type FormEvent, useState } from 'react'
import type { Pod, UpdatePodRequest } from '../../../../contract/pods/pods.ts'
import { useRefresh } from '../../../hooks/live.ts'
import { useApi } from '../../../hooks/session.ts'
import { useSubmit } from '../../../hooks/submit.ts'
import { Button } from '../../../parts/button.tsx'
import { ContainerFields, LabelsField } from '../../../parts/container/container-fields.tsx'
import { CopyAs } from '../../../parts/copy/copy-as.tsx'
import { CheckField, TextField } from '../../../parts/form/field.tsx'
import { Refusal } from '../../../parts/form/refusal.tsx'
import { Panel } from '../../../parts/page.tsx'
import { changesOf, needsNewContainer, type SettingsText, settingsProblem, settingsText } from './settings-form.ts'

/** Form with the changeable settings of a pod; it states before saving whether the pod restarts (POD-13). */
export function Settings({ pod }: { pod: Pod }) {
  const { api, may } = useApi()
  const refresh = useRefresh()
  const { isBusy, errors, refusal, send } = useSubmit()
  const [before, setBefore] = useState(() => settingsText(pod))
  const [text, setText] = useState(before)
  const set = (part: Partial<SettingsText>) => setText({ ...text, ...part })
  const body = changesOf(text, before)
  const submit = async (event: FormEvent) => {
    event.preventDefault()
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
      <form onSubmit={(event) => void submit(event)} className="flex max-w-2xl flex-col gap-4">
        <Refusal text={refusal} />
        <TextField
          label="Name"
          autoComplete="off"
          value={text.name}
          error={errors.of('name')}
          onChange={({ target }) => set({ name: target.value })}
        />
        <LabelsField value={text.labels} error={errors.of('labels')} onChange={(labels) => set({ labels })} />
        <ContainerFields text={text.container} onChange={(container) => set({ container })} errors={errors} />
        {pod.mounts.persistent && (
          <TextField
            label="Persistent mount (GB)"
            inputMode="numeric"
            autoComplete="off"
            hint="It can only grow."
            value={text.persistentGb}
            error={errors.of('mounts')}
            onChange={({ target }) => set({ persistentGb: target.value })}
          />
        )}
        <CheckField
          label="Locked"
          hint="It cannot be stopped or restarted before it is unlocked."
          checked={text.locked}
          error={errors.of('locked')}
          onChange={({ target }) => set({ locked: target.checked })}
        />
        <CheckField
          label="Private address for the account's other pods"
          checked={text.globalNetworking}
          error={errors.of('globalNetworking')}
          onChange={({ target }) => set({ globalNetworking: target.checked })}
        />
        <CheckField
          label="Start it on another machine if its machine is lost"
          hint="With an empty container disk. Otherwise it waits for its machine."
          checked={text.isReplaced}
          error={errors.of('onHostLoss')}
          onChange={({ target }) => set({ isReplaced: target.checked })}
        />
        <Effect pod={pod} body={body} />
        <div className="flex gap-2">
          <Button type="submit" kind="primary" isBusy={isBusy} disabledReason={reason}>
            Save
          </Button>
          <CopyAs call={{ method: 'PATCH', path: `/v2/pods/${pod.id}`, body }} />
        </div>
      </form>
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
