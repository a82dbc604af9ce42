import { SelectField, TextField } from '../../parts/form/field.tsx'
import { type FieldsProps, inputsOf } from '../../parts/form/form.tsx'

/** Numbers of workers and the scaler as form text; the idle timeout is in seconds. */
export interface ScalerText {
  min: string
  max: string
  idleTimeout: string
  scaler: 'QUEUE_DELAY' | 'REQUEST_COUNT'
  scalerValue: string
}

interface ScalerFieldsProps extends FieldsProps<ScalerText> {
  /** Load balancing scales by the number of requests only. */
  isQueue: boolean
}

/** Fields for the number of workers and the condition that starts another one. */
export function ScalerFields({ text, onChange, errors, isQueue }: ScalerFieldsProps) {
  const { input } = inputsOf(text, onChange, errors)
  const number = (name: 'min' | 'max' | 'idleTimeout' | 'scalerValue', label: string, path: string, hint: string) => (
    <TextField label={label} hint={hint} inputMode="decimal" autoComplete="off" {...input(name, path)} />
  )
  const isDelay = text.scaler === 'QUEUE_DELAY'
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      {number('min', 'Minimum workers', 'workers.min', 'They run even without jobs and always cost money.')}
      {number('max', 'Maximum workers', 'workers.max', 'Limits the cost of the endpoint.')}
      <SelectField label="Scaler" {...input('scaler', 'scaling.type')}>
        {isQueue && <option value="QUEUE_DELAY">By waiting time</option>}
        <option value="REQUEST_COUNT">By number of requests</option>
      </SelectField>
      {isDelay
        ? number('scalerValue', 'Maximum queue time (seconds)', 'scaling', 'A job that waits longer starts another worker.')
        : number('scalerValue', 'Requests per worker', 'scaling', 'Counts waiting and running requests.')}
      {isDelay &&
        number(
          'idleTimeout',
          'Idle timeout of workers (seconds)',
          'workers.idleTimeout',
          'A longer timeout means fewer cold starts and a higher price.',
        )}
    </div>
  )
}
