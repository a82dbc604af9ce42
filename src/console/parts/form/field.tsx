import { type InputHTMLAttributes, type ReactNode, type SelectHTMLAttributes, type TextareaHTMLAttributes, useId } from 'react'

interface FieldProps {
  label: string
  hint?: ReactNode
  /** Error that the plane has returned for this field. */
  error?: string | undefined
}

const BOX = 'border-line bg-panel min-h-8.5 w-full rounded-md border px-2.5 py-1.5 aria-invalid:border-bad'

type Noted = FieldProps & { id: string }

function Notes({ id, hint, error, className = '' }: Omit<Noted, 'label'> & { className?: string }) {
  return (
    <>
      {hint && (
        <p id={`${id}-hint`} className={`text-soft text-xs ${className}`}>
          {hint}
        </p>
      )}
      {error !== undefined && (
        <p id={`${id}-error`} className={`text-bad text-xs ${className}`}>
          {error}
        </p>
      )}
    </>
  )
}

const marks = ({ id, hint, error }: Noted) => ({
  id,
  'aria-invalid': error !== undefined || undefined,
  'aria-describedby': [hint && `${id}-hint`, error !== undefined && `${id}-error`].filter(Boolean).join(' ') || undefined,
})

/** Label above a control, with the notes below it. `control` gets the props that connect it with them. */
function Frame({ control, ...field }: FieldProps & { control: (props: ReturnType<typeof marks>) => ReactNode }) {
  const noted = { ...field, id: useId() }
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <label htmlFor={noted.id} className="font-medium">
        {field.label}
      </label>
      {control(marks(noted))}
      <Notes {...noted} />
    </div>
  )
}

/** Shows a single-line text field with its label, hint and error. */
export function TextField({ label, hint, error, ...rest }: FieldProps & InputHTMLAttributes<HTMLInputElement>) {
  return <Frame label={label} hint={hint} error={error} control={(props) => <input {...rest} {...props} className={BOX} />} />
}

/** Shows a text field of several lines with its label, hint and error. */
export function TextArea({ label, hint, error, ...rest }: FieldProps & TextareaHTMLAttributes<HTMLTextAreaElement>) {
  const control = (props: ReturnType<typeof marks>) => <textarea {...rest} {...props} className={`${BOX} font-mono text-xs`} />
  return <Frame label={label} hint={hint} error={error} control={control} />
}

/** Shows a list of options to choose from, with its label, hint and error. */
export function SelectField({ label, hint, error, ...rest }: FieldProps & SelectHTMLAttributes<HTMLSelectElement>) {
  return <Frame label={label} hint={hint} error={error} control={(props) => <select {...rest} {...props} className={BOX} />} />
}

/** Shows a checkbox with its label, hint and error. */
export function CheckField({ label, hint, error, ...rest }: FieldProps & InputHTMLAttributes<HTMLInputElement>) {
  const noted = { label, hint, error, id: useId() }
  return (
    <div className="flex flex-col gap-1">
      <label className="flex items-center gap-2">
        <input type="checkbox" {...rest} {...marks(noted)} className="size-4" />
        <span>{label}</span>
      </label>
      <Notes {...noted} className="pl-6" />
    </div>
  )
}
