import { useLive } from '../../hooks/live.ts'
import { Button } from '../button.tsx'
import { SelectField, TextArea, TextField } from '../form/field.tsx'
import { Options } from '../form/form.tsx'
import { type EnvRow, rowProblem, withRow } from './env-rows.ts'

interface EnvFieldsProps {
  rows: readonly EnvRow[]
  onChange: (rows: EnvRow[]) => void
  /** Error that the plane has returned for the variables. */
  error: string | undefined
}

/** Editor for the variables of an environment; secrets are referenced by name. */
export function EnvFields({ rows, onChange, error }: EnvFieldsProps) {
  const { data } = useLive(['secrets'], (api, signal) => api.listSecrets({}, { signal }), { everyMs: 0 })
  const set = (row: EnvRow) => onChange(rows.map((other) => (other.key === row.key ? row : other)))
  return (
    <fieldset className="border-line flex min-w-0 flex-col gap-4 rounded-md border p-3">
      <legend className="px-1 font-medium">Environment</legend>
      {rows.length === 0 && <p className="text-soft">No variables.</p>}
      {rows.map((row) => (
        <EnvVariable
          key={row.key}
          row={row}
          problem={rowProblem(row, rows)}
          secrets={data?.secrets.map(({ name }) => name) ?? []}
          onChange={set}
          onRemove={() => onChange(rows.filter(({ key }) => key !== row.key))}
        />
      ))}
      {error !== undefined && <p className="text-bad text-xs">{error}</p>}
      <div>
        <Button onClick={() => onChange(withRow(rows))}>Add a variable</Button>
      </div>
    </fieldset>
  )
}

interface EnvVariableProps {
  row: EnvRow
  problem: string | undefined
  secrets: readonly string[]
  onChange: (row: EnvRow) => void
  onRemove: () => void
}

function EnvVariable({ row, problem, secrets, onChange, onRemove }: EnvVariableProps) {
  const { name, kind, text } = row
  const what = name === '' ? 'the new variable' : name
  return (
    <fieldset aria-label={`Variable ${name}`} className="grid min-w-0 items-start gap-3 sm:grid-cols-[2fr_1fr_3fr_auto]">
      <TextField
        label="Variable"
        autoComplete="off"
        spellCheck={false}
        value={name}
        error={problem}
        onChange={({ target }) => onChange({ ...row, name: target.value })}
      />
      <SelectField
        label="Type"
        value={kind}
        onChange={({ target }) => onChange({ ...row, kind: target.value === 'secret' ? 'secret' : 'value', text: '' })}
      >
        <option value="value">Value</option>
        <option value="secret">Secret</option>
      </SelectField>
      {kind === 'secret' ? (
        <SelectField label="Secret" value={text} onChange={({ target }) => onChange({ ...row, text: target.value })}>
          <option value="">{secrets.length === 0 ? 'There are no secrets yet' : 'Choose a secret'}</option>
          <Options of={secrets} />
          {text !== '' && !secrets.includes(text) && <option>{text}</option>}
        </SelectField>
      ) : (
        <TextArea
          label="Value"
          rows={1}
          autoComplete="off"
          spellCheck={false}
          value={text}
          onChange={({ target }) => onChange({ ...row, text: target.value })}
        />
      )}
      <Button kind="quiet" className="sm:mt-6" aria-label={`Remove ${what}`} onClick={onRemove}>
        Remove
      </Button>
    </fieldset>
  )
}
