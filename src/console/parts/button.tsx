import { type ButtonHTMLAttributes, type ReactNode, type Ref, useId } from 'react'
import { A } from './link.tsx'

type Kind = 'primary' | 'plain' | 'danger' | 'quiet'

const REQUESTS: Record<Kind, string> = {
  primary: 'bg-fill text-white border-transparent hover:brightness-110',
  plain: 'bg-panel border-line hover:bg-raised',
  danger: 'bg-panel border-bad text-bad hover:bg-bad-bg',
  quiet: 'border-transparent hover:bg-raised text-soft',
}

/** Props of a button; a busy button waits for its own action. */
export interface ButtonProps extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'disabled'> {
  kind?: Kind
  /** Reason why the button is disabled; it stays focusable so that every user can read the reason. */
  disabledReason?: string | undefined
  isBusy?: boolean
  ref?: Ref<HTMLButtonElement>
  children: ReactNode
}

/** Shows a button; while it is disabled or busy it stays focusable, and a click does nothing. */
export function Button({ kind = 'plain', disabledReason, isBusy = false, onClick, className = '', children, ...rest }: ButtonProps) {
  const reasonId = useId()
  const isOff = disabledReason !== undefined || isBusy
  return (
    <>
      <button
        type="button"
        {...rest}
        aria-disabled={isOff || undefined}
        aria-busy={isBusy || undefined}
        aria-describedby={disabledReason === undefined ? undefined : reasonId}
        title={disabledReason ?? rest.title}
        onClick={(event) => (isOff ? event.preventDefault() : onClick?.(event))}
        className={`inline-flex min-h-8 items-center justify-center gap-1.5 rounded-md border px-3 py-1 font-medium whitespace-nowrap ${REQUESTS[kind]} ${isOff ? 'cursor-not-allowed opacity-60' : ''} ${className}`}
      >
        {children}
      </button>
      {disabledReason !== undefined && (
        <span id={reasonId} className="sr-only">
          {disabledReason}
        </span>
      )}
    </>
  )
}

/** Link to another page with the look of a button. */
export function LinkButton({ to, kind = 'plain', children }: { to: string; kind?: Kind; children: ReactNode }) {
  return (
    <A to={to} className={`inline-flex min-h-8 items-center rounded-md border px-3 py-1 font-medium whitespace-nowrap ${REQUESTS[kind]}`}>
      {children}
    </A>
  )
}
