import type { ReactNode } from 'react'

const LOOK = 'bg-raised max-h-96 w-full overflow-auto rounded-md p-2 font-mono text-xs break-words whitespace-pre-wrap'

/** Text as it is, in a box of bounded height; the keyboard reaches it, so it can be scrolled. */
export function Pre({ children }: { children: ReactNode }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
    <pre tabIndex={0} className={LOOK}>
      {children}
    </pre>
  )
}
