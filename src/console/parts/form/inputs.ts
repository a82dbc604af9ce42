import type { FieldErrors } from '../../hooks/field-errors.ts'

/** Props of a text or select field that a form passes on. */
export interface Input {
  value: string
  error: string | undefined
  onChange: (event: { target: { value: string } }) => void
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
