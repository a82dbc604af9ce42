import { useState } from 'react'
import type { ApiClient } from '../../../../client/client.ts'
import type { CatalogItem } from '../../../../contract/catalog/entries.ts'
import { useApi } from '../../../hooks/session.ts'
import { useSubmit } from '../../../hooks/submit.ts'
import { Button } from '../../../parts/button.tsx'
import { Dialog } from '../../../parts/dialog.tsx'
import { SelectField, TextField } from '../../../parts/form/field.tsx'
import { LimitsForm } from '../account/limits-form.tsx'
import { type CATALOG_FIELDS, type CatalogField, entryOf, fieldsOf, keyOf, textsOf, valueText } from './fields.ts'

interface EditProps {
  kind: keyof typeof CATALOG_FIELDS
  of: CatalogItem
  put: (api: ApiClient, id: string, body: object) => Promise<unknown>
  onClose: () => void
}

/** Form for one catalog entry. Before it saves, it shows the accounts that would pay another price or lose an offer (DRY-23). */
export function Edit({ kind, of, put, onClose }: EditProps) {
  const { api, refresh } = useApi()
  const { isBusy, refusal, send } = useSubmit()
  const fields = fieldsOf(kind, of)
  const [texts, setTexts] = useState(() => textsOf(fields, of.entry))
  const { body, wrong } = entryOf(fields, texts)
  const save = async () => {
    const done = await send(() => put(api, of.id, body).then(() => true), `${of.id} is changed`)
    if (!done) return
    onClose()
    await refresh('operator', 'catalog')
  }
  const write = (field: CatalogField, text: string) => setTexts((before) => ({ ...before, [keyOf(field)]: text }))
  return (
    <Dialog title={of.id} isOpen onClose={onClose} isWide>
      <LimitsForm
        title={`Change ${of.id}?`}
        path={`/admin/v1/catalog/${kind}/${encodeURIComponent(of.id)}`}
        body={body}
        disabledReason={wrong.length > 0 ? 'A field is invalid.' : undefined}
        save={save}
        isBusy={isBusy}
        refusal={refusal}
        actions={<Button onClick={onClose}>Cancel</Button>}
      >
        <p className="text-soft">If a field is empty, its default applies. Running workloads keep their price.</p>
        <div className="grid gap-3 sm:grid-cols-2">
          {fields.map((field) => (
            <Field
              key={keyOf(field)}
              of={field}
              inForce={valueText(field, field.inForce(of.inForce))}
              text={texts[keyOf(field)] ?? ''}
              isWrong={wrong.includes(keyOf(field))}
              write={(text) => write(field, text)}
            />
          ))}
        </div>
      </LimitsForm>
    </Dialog>
  )
}

interface FieldProps {
  of: CatalogField
  inForce: string
  text: string
  isWrong: boolean
  write: (text: string) => void
}

function Field({ of: { label, kind, none }, inForce, text, isWrong, write }: FieldProps) {
  const hint = `Current value: ${inForce}`
  if (kind === 'flag') {
    return (
      <SelectField label={label} hint={hint} value={text} onChange={(event) => write(event.target.value)}>
        <option value="">default</option>
        <option>yes</option>
        <option>no</option>
      </SelectField>
    )
  }
  const asked = kind === 'number' ? `Enter a number of 0 or more${none === undefined ? '' : `, or: ${none}`}.` : undefined
  return (
    <TextField
      label={label}
      hint={hint}
      inputMode={kind === 'number' ? 'decimal' : 'text'}
      autoComplete="off"
      placeholder={inForce}
      value={text}
      error={isWrong ? asked : undefined}
      onChange={(event) => write(event.target.value)}
    />
  )
}
