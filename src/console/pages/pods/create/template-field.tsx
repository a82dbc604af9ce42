import { useWhole } from '../../../hooks/whole.ts'
import { SelectField } from '../../../parts/form/field.tsx'
import { type Input, Options } from '../../../parts/form/form.tsx'

/** Choice of the template, which fills the empty fields of the form. */
export function TemplateField(input: Input) {
  const { value } = input
  const own = useWhole(['templates'], (api, query, signal) => api.listTemplates({ query }, { signal }), { everyMs: 0 })
  const shared = useWhole(['public-templates'], (api, _query, signal) => api.listPublicTemplates({}, { signal }), { everyMs: 0 })
  const forPods = (list: readonly { id: string; name: string; serverless: boolean }[] = []) => list.filter(({ serverless }) => !serverless)
  const mine = forPods(own.data)
  const others = forPods(shared.data).filter(({ id }) => !mine.some((one) => one.id === id))
  const isKnown = [...mine, ...others].some(({ id }) => id === value)
  return (
    <SelectField label="Template" hint="Provides the values of fields that are empty below." {...input}>
      <option value="">None</option>
      {!isKnown && value !== '' && <option value={value}>{value}</option>}
      <Options of={[...mine, ...others].map(({ id, name }) => [id, name])} />
    </SelectField>
  )
}
