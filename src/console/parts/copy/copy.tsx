import { useState } from 'react'
import { Button } from '../button.tsx'

const SHOWN_MS = 2_000

/** Copies a text; `what` names it for screen readers. */
export function CopyButton({ text, what, label = 'Copy' }: { text: string; what: string; label?: string }) {
  const [said, setSaid] = useState<'copied' | 'failed' | null>(null)
  const copy = async () => {
    const outcome = await navigator.clipboard.writeText(text).then(
      () => 'copied' as const,
      () => 'failed' as const,
    )
    setSaid(outcome)
    setTimeout(() => setSaid(null), SHOWN_MS)
  }
  return (
    <Button kind="quiet" className="shrink-0" aria-label={`${label} ${what}`} onClick={() => void copy()}>
      <span aria-live="polite">{said === null ? label : said === 'copied' ? 'Copied' : 'Not allowed'}</span>
    </Button>
  )
}
