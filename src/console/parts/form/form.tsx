import { type FormEvent, type ReactNode, useState } from 'react'
import type { FieldErrors } from '../../hooks/field-errors.ts'
import { useSubmit } from '../../hooks/submit.ts'
import { Button, type ButtonProps } from '../button.tsx'
import type { CopiedCall } from '../copy/call-texts.ts'
import { CopyAs } from '../copy/copy-as.tsx'

interface FormProps {
  onSubmit: () => unknown
  /** Message of the last refusal, shown above the fields. */
  refusal?: string | null
  className?: string
  children: ReactNode
}

/** Form that the page sends instead of the browser. */
export function Form({ onSubmit, refusal = null, className = 'flex flex-col gap-3', children }: FormProps) {
  const submit = (event: FormEvent) => {
    event.preventDefault()
    void onSubmit()
  }
  return (
    <form onSubmit={submit} className={className}>
      <Refusal text={refusal} />
      {children}
    </form>
  )
}

interface SubmitProps extends Pick<ButtonProps, 'isBusy' | 'disabledReason' | 'children'> {
  call: CopiedCall
}

/** Button that sends a form, beside the same call to copy. */
export function Submit({ call, children, ...button }: SubmitProps) {
  return (
    <div className="flex flex-wrap gap-2">
      <Button type="submit" kind="primary" {...button}>
        {children}
      </Button>
      <CopyAs call={call} />
    </div>
  )
}

type Value = string | number

/** Options of a select field: values, which are their own text, or pairs of value and text. */
export function Options({ of }: { of: readonly (Value | readonly [Value, ReactNode])[] }) {
  return of.map((one) => {
    const [value, text] = typeof one === 'object' ? one : [one, one]
    return (
      <option key={value} value={value}>
        {text}
      </option>
    )
  })
}

/** Error for a form as a whole; renders nothing if there is none. */
export function Refusal({ text }: { text: string | null }) {
  if (text === null) return null
  return (
    <p role="alert" className="bg-bad-bg text-bad rounded-md p-3">
      {text}
    </p>
  )
}

/** Props of a text or select field that a form passes on. */
export interface Input {
  value: string
  error: string | undefined
  onChange: (event: { target: { value: string } }) => void
}

/** Props of a part of a form, which changes members of the form's text. */
export interface FieldsProps<Text> {
  text: Text
  onChange: (part: Partial<Text>) => void
  errors: FieldErrors
}

type NamesOf<Text, Value> = { [Name in keyof Text & string]: Text[Name] extends Value ? Name : never }[keyof Text & string]

/**
 * Props of the fields of a form, by the name of their member in the form's text. `path` names the field in the request, where it has
 * another name there.
 */
export function inputsOf<Text extends object>(text: Text, onChange: (part: Partial<Text>) => void, errors: FieldErrors) {
  // A computed name has the type `string`. The options of a select are the values of its member's type.
  const change = (name: string, value: unknown) => onChange({ [name]: value } as Partial<Text>)
  return {
    input: <Name extends NamesOf<Text, string>>(name: Name, path: string = name) => ({
      value: text[name],
      error: errors.of(path),
      onChange: ({ target }: { target: { value: string } }) => change(name, target.value),
    }),
    check: <Name extends NamesOf<Text, boolean>>(name: Name, path: string = name) => ({
      checked: text[name],
      error: errors.of(path),
      onChange: ({ target }: { target: { checked: boolean } }) => change(name, target.checked),
    }),
  }
}

/** A form of a page: its text, the props of its fields, and its submission. `set` changes a part of the text. */
export function useForm<Text extends object>(initial: Text | (() => Text)) {
  const submission = useSubmit()
  const [text, setText] = useState(initial)
  const set = (part: Partial<Text>) => setText((before) => ({ ...before, ...part }))
  return { ...submission, text, setText, set, ...inputsOf(text, set, submission.errors) }
}
