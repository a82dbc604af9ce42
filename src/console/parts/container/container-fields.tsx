import type { FieldErrors } from '../../hooks/field-errors.ts'
import { useLive } from '../../hooks/live.ts'
import { SelectField, TextArea, TextField } from '../form/field.tsx'
import { type Input, Options } from '../form/form.tsx'
import { type ContainerText, containerProblems } from './container-form.ts'

interface ContainerFieldsProps {
  text: ContainerText
  onChange: (text: ContainerText) => void
  errors: FieldErrors
  /** Values of the template, shown as placeholders of empty fields. */
  filled?: Partial<ContainerText> | undefined
  /** Whether the form has a credential field; clusters take the credential of their template. */
  hasRegistry?: boolean
  isImageRequired?: boolean
}

/** Fields of a container: image, command, environment, ports, disk, and the credential for the image. */
export function ContainerFields({ text, onChange, errors, filled, hasRegistry = true, isImageRequired = false }: ContainerFieldsProps) {
  const problems = containerProblems(text)
  const field = (name: keyof ContainerText) => ({
    value: text[name],
    placeholder: filled?.[name],
    error: problems[name] ?? errors.of(name),
    onChange: ({ target }: { target: { value: string } }) => onChange({ ...text, [name]: target.value }),
  })
  return (
    <>
      <TextField
        label="Image"
        autoComplete="off"
        spellCheck={false}
        required={isImageRequired}
        hint="Such as docker.io/library/python:3.13."
        {...field('image')}
      />
      <TextField
        label="Command"
        autoComplete="off"
        spellCheck={false}
        hint="Arguments of the image's entrypoint. Empty: those of the image."
        {...field('args')}
      />
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField
          label="Ports"
          autoComplete="off"
          spellCheck={false}
          hint="Such as 8888/http, 22/tcp. HTTP ports get an address of their own."
          {...field('ports')}
        />
        <TextField label="Container disk (GB)" inputMode="numeric" autoComplete="off" hint="A restart erases it." {...field('disk')} />
      </div>
      <TextArea
        label="Environment"
        rows={3}
        spellCheck={false}
        hint="NAME=value, one per line. {{ RUNPOD_SECRET_name }} stands for a secret."
        {...field('env')}
      />
      {hasRegistry && <RegistryField {...field('registry')} />}
    </>
  )
}

function RegistryField({ value, error, onChange }: Input) {
  const { data } = useLive(['registries'], (api, signal) => api.listRegistries({}, { signal }), { everyMs: 0 })
  const known = data?.registries ?? []
  if (known.length === 0 && value === '') return null
  return (
    <SelectField label="Registry credential" value={value} error={error} onChange={onChange} hint="For images that are not public.">
      <option value="">None</option>
      <Options of={known.map(({ id, name }) => [id, name])} />
      {value !== '' && !known.some(({ id }) => id === value) && <option value={value}>{value}</option>}
    </SelectField>
  )
}

/** Input of the labels of a resource. */
export function LabelsField(props: Input) {
  return (
    <TextField
      label="Labels"
      autoComplete="off"
      spellCheck={false}
      hint="Such as team=research, stage=test. Lists are filtered by them."
      {...props}
    />
  )
}
