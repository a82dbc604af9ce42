import type { ReactNode } from 'react'

const STYLE = 'bg-raised max-h-96 w-full overflow-auto rounded-md p-2 font-mono text-xs break-words whitespace-pre-wrap'

/** Preformatted text in a box of limited height; focusable, so that the keyboard can scroll it. */
export function Pre({ children }: { children: ReactNode }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
    <pre tabIndex={0} className={STYLE}>
      {children}
    </pre>
  )
}
