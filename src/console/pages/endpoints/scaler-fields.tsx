import type { FieldErrors } from '../../hooks/field-errors.ts'
import { SelectField, TextField } from '../../parts/form/field.tsx'

export interface ScalerText {
  min: string
  max: string
  idleTimeout: string
  scaler: 'QUEUE_DELAY' | 'REQUEST_COUNT'
  scalerValue: string
}

interface ScalerFieldsProps {
  text: ScalerText
  onChange: (part: Partial<ScalerText>) => void
  errors: FieldErrors
  /** Load balancing scales by the number of requests only. */
  isQueue: boolean
}

/** Fields for the number of workers and the condition that starts another one. */
export function ScalerFields({ text, onChange, errors, isQueue }: ScalerFieldsProps) {
  const number = (name: 'min' | 'max' | 'idleTimeout' | 'scalerValue', label: string, path: string, hint: string) => (
    <TextField
      label={label}
      hint={hint}
      inputMode="decimal"
      autoComplete="off"
      value={text[name]}
      error={errors.of(path)}
      onChange={({ target }) => onChange({ [name]: target.value })}
    />
  )
  const isDelay = text.scaler === 'QUEUE_DELAY'
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      {number('min', 'Workers at least', 'workers.min', 'Kept even without work; they cost all the time.')}
      {number('max', 'Workers at most', 'workers.max', 'The bound of what the endpoint can cost.')}
      <SelectField
        label="Scaler"
        value={text.scaler}
        error={errors.of('scaling.type')}
        onChange={({ target }) => onChange({ scaler: target.value === 'QUEUE_DELAY' ? 'QUEUE_DELAY' : 'REQUEST_COUNT' })}
      >
        {isQueue && <option value="QUEUE_DELAY">By how long jobs wait</option>}
        <option value="REQUEST_COUNT">By how many there are</option>
      </SelectField>
      {isDelay
        ? number('scalerValue', 'Seconds a job may wait', 'scaling', 'After that another worker starts.')
        : number('scalerValue', 'Requests for one worker', 'scaling', 'Waiting and running ones.')}
      {isDelay &&
        number('idleTimeout', 'Seconds an idle worker stays', 'workers.idleTimeout', 'Longer means fewer cold starts, at its price.')}
    </div>
  )
}
