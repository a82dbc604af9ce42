import { useState } from 'react'
import { Button } from '../../parts/button.tsx'
import { CopyButton } from '../../parts/copy/copy.tsx'
import { bytes } from '../../parts/format.ts'
import { Pre } from '../../parts/pre.tsx'

const SHOWN_CHARS = 4_000

/** A value as text; a long one is cut unless the user expands it. */
export function JsonText({ value, name }: { value: unknown; name: string }) {
  const [isWhole, setIsWhole] = useState(false)
  const text = typeof value === 'string' ? value : ((JSON.stringify(value, null, 2) as string | undefined) ?? '')
  const isLong = text.length > SHOWN_CHARS
  return (
    <section aria-label={name} className="flex min-w-0 flex-col items-start gap-2">
      <Pre>{isLong && !isWhole ? `${text.slice(0, SHOWN_CHARS)}…` : text}</Pre>
      <div className="flex gap-2">
        {isLong && (
          <Button kind="quiet" aria-expanded={isWhole} onClick={() => setIsWhole(!isWhole)}>
            {isWhole ? 'Show less' : `Show all ${bytes(text.length)}`}
          </Button>
        )}
        <CopyButton text={text} what={name} />
      </div>
    </section>
  )
}
