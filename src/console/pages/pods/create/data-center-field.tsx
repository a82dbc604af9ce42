import { useLive } from '../../../hooks/live.ts'
import { SelectField } from '../../../parts/form/field.tsx'

interface DataCenterFieldProps {
  /** Comma-separated ids; empty: any data center. */
  value: string
  onChange: (ids: string) => void
  error: string | undefined
}

/** Choice of one data center; shows several if an applied option has added some. */
export function DataCenterField({ value, onChange, error }: DataCenterFieldProps) {
  const { data } = useLive(['catalog', 'data-centers'], (api, signal) => api.listDataCenters({}, { signal }), { everyMs: 0 })
  return (
    <SelectField label="Data center" value={value} error={error} onChange={({ target }) => onChange(target.value)}>
      <option value="">Anywhere</option>
      {value.includes(',') && <option value={value}>{value.replaceAll(',', ' or ')}</option>}
      {data?.dataCenters.map(({ id, name }) => (
        <option key={id} value={id}>
          {id === name ? id : `${id} (${name})`}
        </option>
      ))}
    </SelectField>
  )
}
