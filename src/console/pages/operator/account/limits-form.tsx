import { type ReactNode, useState } from 'react'
import type { useSubmit } from '../../../hooks/submit.ts'
import { Button } from '../../../parts/button.tsx'
import { Form } from '../../../parts/form/form.tsx'
import { Confirm } from '../../../parts/over/confirm.tsx'

interface LimitsFormProps extends Pick<ReturnType<typeof useSubmit>, 'isBusy' | 'refusal'> {
  title: string
  path: string
  body: unknown
  /** Reason why the form cannot be sent yet. */
  disabledReason?: string | undefined
  save: () => Promise<unknown>
  /** Additional buttons. */
  actions?: ReactNode
  children: ReactNode
}

/** Form for limits; before it saves, it shows the impact on the account's resources (DRY-17). */
export function LimitsForm({ title, path, body, disabledReason, save, actions, isBusy, refusal, children }: LimitsFormProps) {
  const [isAsking, setIsAsking] = useState(false)
  const ask = () => {
    if (disabledReason === undefined) setIsAsking(true)
  }
  const confirm = async () => {
    await save()
    setIsAsking(false)
  }
  return (
    <Form onSubmit={ask} refusal={refusal} className="flex flex-col gap-4">
      {children}
      <div className="flex flex-wrap gap-2">
        <Button type="submit" kind="primary" isBusy={isBusy} disabledReason={disabledReason}>
          Save
        </Button>
        {actions}
      </div>
      {isAsking && (
        <Confirm
          title={title}
          verb="Save"
          isOpen
          isBusy={isBusy}
          onClose={() => setIsAsking(false)}
          onConfirm={() => void confirm()}
          plan={{ method: 'PUT', path, body }}
        >
          <p>The change takes effect at once.</p>
        </Confirm>
      )}
    </Form>
  )
}
