import type { FieldErrors } from '../../../hooks/field-errors.ts'
import { useLive } from '../../../hooks/live.ts'
import { SelectField, TextField } from '../../../parts/form/field.tsx'
import type { PodText } from './pod-form.ts'

interface StorageFieldsProps {
  text: PodText
  onChange: (part: Partial<PodText>) => void
  errors: FieldErrors
}

/** Fields for storage that outlives the container: a persistent mount on the host, or volumes. */
export function StorageFields({ text, onChange, errors }: StorageFieldsProps) {
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
          value={text.persistentGb}
          error={errors.of('mounts.persistent')}
          onChange={({ target }) => onChange({ persistentGb: target.value })}
        />
      )}
      <SelectField
        label="Network volume"
        value={text.networkVolumeId}
        error={errors.of('mounts.network')}
        onChange={({ target }) => onChange({ networkVolumeId: target.value })}
      >
        <option value="">None</option>
        {network.data?.networkVolumes.map(({ id, name, dataCenter }) => (
          <option key={id} value={id}>
            {name} ({dataCenter})
          </option>
        ))}
      </SelectField>
      <SelectField
        label="Global volume"
        value={text.globalVolumeId}
        error={errors.of('mounts.global')}
        hint="At /workspace-global."
        onChange={({ target }) => onChange({ globalVolumeId: target.value })}
      >
        <option value="">None</option>
        {global.data?.globalVolumes.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </SelectField>
      {isMounted && (
        <TextField
          label="Mounted at"
          autoComplete="off"
          value={text.mountPath}
          onChange={({ target }) => onChange({ mountPath: target.value })}
        />
      )}
    </div>
  )
}
