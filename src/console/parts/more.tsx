import { Button } from './button.tsx'

/** Position in a list that is shown page by page. */
export interface PagesProps {
  /** Position of the shown page; empty: the first. */
  cursor: string
  /** Position of the next page; null: the shown page is the last one. */
  next: string | null
  go: (cursor: string) => void
}

/** Buttons for the next and the first page of a list; the cursor is stored in the address. */
export function Pages({ cursor, next, go }: PagesProps) {
  if (cursor === '' && next === null) return null
  return (
    <nav aria-label="Pages of the list" className="flex gap-2">
      <Button disabledReason={cursor === '' ? 'This is the first page.' : undefined} onClick={() => go('')}>
        First page
      </Button>
      <Button disabledReason={next === null ? 'This is the last page.' : undefined} onClick={() => go(next ?? '')}>
        Next page
      </Button>
    </nav>
  )
}
