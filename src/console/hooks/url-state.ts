import { useRouter, useRouterState } from '@tanstack/react-router'
import { useCallback } from 'react'

interface UrlStateOptions {
  /** Whether the value changes with every keystroke; such changes replace the history entry instead of adding one per letter. */
  isTyped?: boolean
  /** Another part of the view that starts anew with each change: the page of a list, whose position is valid for one filter only. */
  resets?: string
}

/** Part of a view that is stored in the address (UI-2): a tab, a filter, a selected line. Going back restores the previous value. */
export function useUrlState(
  name: string,
  initial: string,
  { isTyped = false, resets }: UrlStateOptions = {},
): [string, (value: string) => void] {
  const router = useRouter()
  const value = useRouterState({ select: ({ location }) => (location.search as Record<string, unknown>)[name] }) as unknown
  const set = useCallback(
    (next: string) => {
      const search = (previous: Record<string, unknown>) => ({
        ...previous,
        ...(resets !== undefined && { [resets]: undefined }),
        [name]: next === initial ? undefined : next,
      })
      void router.navigate({ to: '.', search, replace: isTyped, resetScroll: false } as object)
    },
    [router, name, initial, isTyped, resets],
  )
  return [value === undefined ? initial : String(value), set]
}
