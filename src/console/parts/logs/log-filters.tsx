import { SelectField } from '../form/field.tsx'
import { Options } from '../form/form.tsx'
import { SINCE_CHOICES } from './reading/source.ts'

interface LogFiltersProps {
  source: string
  /** Null: the log has a fixed period. */
  since: string | null
  onSource: (source: string) => void
  onSince: (since: string) => void
}

/** Filters by source and by time. */
export function LogFilters({ source, since, onSource, onSince }: LogFiltersProps) {
  return (
    <>
      <SelectField label="Source" value={source} onChange={({ target }) => onSource(target.value)}>
        <option value="">Container and system</option>
        <option value="container">Container</option>
        <option value="system">System</option>
      </SelectField>
      {since !== null && (
        <SelectField label="Since" value={since} onChange={({ target }) => onSince(target.value)}>
          <Options of={SINCE_CHOICES.map(({ value, label }) => [value, label])} />
        </SelectField>
      )}
    </>
  )
}
