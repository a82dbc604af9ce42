import { useLive } from '../../../hooks/live.ts'
import { SelectField, TextField } from '../../../parts/form/field.tsx'
import { type FieldsProps, inputsOf, Options } from '../../../parts/form/form.tsx'
import type { PodText } from './pod-form.ts'

/** Fields for storage that outlives the container: a persistent mount on the host, or volumes. */
export function StorageFields({ text, onChange, errors }: FieldsProps<PodText>) {
  const { input } = inputsOf(text, onChange, errors)
  const network = useLive(['network-volumes'], (api, signal) => api.listNetworkVolumes({}, { signal }), { everyMs: 0 })
  const global = useLive(['global-volumes'], (api, signal) => api.listGlobalVolumes({}, { signal }), { everyMs: 0 })
  const isMounted = text.persistentGb !== '' || text.networkVolumeId !== ''
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      {text.kind === 'gpu' && (
        <TextField
          label="Persistent mount (GB)"
          inputMode="numeric"
          autoComplete="off"
          hint="On the machine of the pod; not together with a network volume. Empty: none."
          {...input('persistentGb', 'mounts.persistent')}
        />
      )}
      <SelectField label="Network volume" {...input('networkVolumeId', 'mounts.network')}>
        <option value="">None</option>
        <Options of={(network.data?.networkVolumes ?? []).map(({ id, name, dataCenter }) => [id, `${name} (${dataCenter})`])} />
      </SelectField>
      <SelectField label="Global volume" {...input('globalVolumeId', 'mounts.global')} hint="At /workspace-global.">
        <option value="">None</option>
        <Options of={(global.data?.globalVolumes ?? []).map(({ id, name }) => [id, name])} />
      </SelectField>
      {isMounted && <TextField label="Mounted at" autoComplete="off" {...input('mountPath')} />}
    </div>
  )
}
