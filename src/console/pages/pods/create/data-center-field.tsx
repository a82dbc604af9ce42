import { useLive } from '../../../hooks/live.ts'
import { SelectField } from '../../../parts/form/field.tsx'
import { type Input, Options } from '../../../parts/form/form.tsx'

/** Choice of one data center, `value` empty: any. An applied option may have added several ids, separated by commas. */
export function DataCenterField({ value, onChange, error }: Input) {
  const { data } = useLive(['catalog', 'data-centers'], (api, signal) => api.listDataCenters({}, { signal }), { everyMs: 0 })
  return (
    <SelectField label="Data center" value={value} error={error} onChange={onChange}>
      <option value="">Anywhere</option>
      {value.includes(',') && <option value={value}>{value.replaceAll(',', ' or ')}</option>}
      <Options of={(data?.dataCenters ?? []).map(({ id, name }) => [id, id === name ? id : `${id} (${name})`])} />
    </SelectField>
  )
}
