import { useRouter, useRouterState } from '@tanstack/react-router'
import { useCallback } from 'react'

interface UrlStateOptions {
  /** Whether the value changes with every keystroke; such changes replace the history entry instead of adding one per letter. */
  isTyped?: boolean
}

/** Part of a view that is stored in the address (UI-2): a tab, a filter, a selected line. Going back restores the previous value. */
export function useUrlState(name: string, initial: string, { isTyped = false }: UrlStateOptions = {}): [string, (value: string) => void] {
  const router = useRouter()
  const value = useRouterState({ select: ({ location }) => (location.search as Record<string, unknown>)[name] }) as unknown
  const set = useCallback(
    (next: string) => {
      const search = (previous: Record<string, unknown>) => ({ ...previous, [name]: next === initial ? undefined : next })
      void router.navigate({ to: '.', search, replace: isTyped, resetScroll: false } as object)
    },
    [router, name, initial, isTyped],
  )
  return [value === undefined ? initial : String(value), set]
}
