import { Toast } from '@base-ui/react/toast'
import { useCallback, useState } from 'react'
import { messageOf } from './sentence.ts'

interface Act {
  isBusy: boolean
  /** Runs `what`, shows `done` on success unless it is null, and the plane's reason on failure. Resolves to whether it succeeded. */
  run: (what: () => Promise<unknown>, done: string | null) => Promise<boolean>
}

/** Runs an action that the user has asked for and shows its outcome as a toast. */
export function useAct(): Act {
  const { add } = Toast.useToastManager()
  const [isBusy, setIsBusy] = useState(false)
  const run = useCallback(
    async (what: () => Promise<unknown>, done: string | null) => {
      setIsBusy(true)
      try {
        await what()
        if (done !== null) add({ title: done })
        return true
      } catch (error) {
        add({ type: 'error', title: 'The action failed', description: messageOf(error), priority: 'high', timeout: 0 })
        return false
      } finally {
        setIsBusy(false)
      }
    },
    [add],
  )
  return { isBusy, run }
}
