import { type InputHTMLAttributes, type ReactNode, type SelectHTMLAttributes, type TextareaHTMLAttributes, useId } from 'react'

interface FieldProps {
  label: string
  hint?: ReactNode
  /** Error that the plane has returned for this field. */
  error?: string | undefined
}

const BOX = 'border-line bg-panel min-h-8.5 w-full rounded-md border px-2.5 py-1.5 aria-invalid:border-bad'

function Frame({ label, hint, error, id, children }: FieldProps & { id: string; children: ReactNode }) {
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <label htmlFor={id} className="font-medium">
        {label}
      </label>
      {children}
      {hint && (
        <p id={`${id}-hint`} className="text-soft text-xs">
          {hint}
        </p>
      )}
      {error !== undefined && (
        <p id={`${id}-error`} className="text-bad text-xs">
          {error}
        </p>
      )}
    </div>
  )
}

const marks = (id: string, { hint, error }: FieldProps) => ({
  id,
  'aria-invalid': error !== undefined || undefined,
  'aria-describedby': [hint && `${id}-hint`, error !== undefined && `${id}-error`].filter(Boolean).join(' ') || undefined,
})

export function TextField({ label, hint, error, ...rest }: FieldProps & InputHTMLAttributes<HTMLInputElement>) {
  const id = useId()
  return (
    <Frame label={label} hint={hint} error={error} id={id}>
      <input {...rest} {...marks(id, { label, hint, error })} className={BOX} />
    </Frame>
  )
}

export function TextArea({ label, hint, error, ...rest }: FieldProps & TextareaHTMLAttributes<HTMLTextAreaElement>) {
  const id = useId()
  return (
    <Frame label={label} hint={hint} error={error} id={id}>
      <textarea {...rest} {...marks(id, { label, hint, error })} className={`${BOX} font-mono text-xs`} />
    </Frame>
  )
}

export function SelectField({ label, hint, error, ...rest }: FieldProps & SelectHTMLAttributes<HTMLSelectElement>) {
  const id = useId()
  return (
    <Frame label={label} hint={hint} error={error} id={id}>
      <select {...rest} {...marks(id, { label, hint, error })} className={BOX} />
    </Frame>
  )
}

export function CheckField({ label, hint, error, ...rest }: FieldProps & InputHTMLAttributes<HTMLInputElement>) {
  const id = useId()
  return (
    <div className="flex flex-col gap-1">
      <label className="flex items-center gap-2">
        <input type="checkbox" {...rest} {...marks(id, { label, hint, error })} className="size-4" />
        <span>{label}</span>
      </label>
      {hint && (
        <p id={`${id}-hint`} className="text-soft pl-6 text-xs">
          {hint}
        </p>
      )}
      {error !== undefined && (
        <p id={`${id}-error`} className="text-bad pl-6 text-xs">
          {error}
        </p>
      )}
    </div>
  )
}
