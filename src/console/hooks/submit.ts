import { Toast } from '@base-ui/react/toast'
import { useCallback, useState } from 'react'
import { type FieldErrors, fieldErrors } from './field-errors.ts'
import { messageOf } from './sentence.ts'

interface Submit {
  isBusy: boolean
  /** Errors of the last refusal, by field. */
  errors: FieldErrors
  /** Message of the last refusal, for the top of the form; null if there was none. */
  refusal: string | null
  /** Submits a form. Resolves to the answer, or to undefined if the plane refused it. */
  send: <Answer>(what: () => Promise<Answer>, done: string) => Promise<Answer | undefined>
}

/** State of a form whose refusal stays visible until the next submit. */
export function useSubmit(): Submit {
  const { add } = Toast.useToastManager()
  const [isBusy, setIsBusy] = useState(false)
  const [error, setError] = useState<unknown>(null)
  const send = useCallback(
    async <Answer>(what: () => Promise<Answer>, done: string) => {
      setIsBusy(true)
      setError(null)
      try {
        const answer = await what()
        add({ title: done })
        return answer
      } catch (reason) {
        setError(reason)
        return undefined
      } finally {
        setIsBusy(false)
      }
    },
    [add],
  )
  return { isBusy, errors: fieldErrors(error), refusal: error === null ? null : messageOf(error), send }
}
