import type { FormEvent, ReactNode } from 'react'
import { Button, type ButtonProps } from '../button.tsx'
import type { CopiedCall } from '../copy/copy-as.ts'
import { CopyAs } from '../copy/copy-as.tsx'
import { Refusal } from './refusal.tsx'

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
