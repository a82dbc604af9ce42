import { useState } from 'react'
import { Button } from '../button.tsx'
import { Dialog } from '../dialog.tsx'
import { Pre } from '../pre.tsx'
import { type CopiedCall, copyAs } from './call-texts.ts'
import { CopyButton } from './copy.tsx'

/** "Copy as": the call of a form or a button for a shell, Python and the command line. The text contains no key. */
export function CopyAs({ call, label = 'Copy as…' }: { call: CopiedCall | readonly CopiedCall[]; label?: string }) {
  const [isOpen, setIsOpen] = useState(false)
  return (
    <>
      <Button kind="quiet" onClick={() => setIsOpen(true)}>
        {label}
      </Button>
      <Dialog
        title="The same request outside the console"
        isOpen={isOpen}
        onClose={() => setIsOpen(false)}
        isWide
        actions={<Button onClick={() => setIsOpen(false)}>Close</Button>}
      >
        {copyAs(call, location.origin).map(({ name, text }) => (
          <section key={name} aria-label={name} className="flex min-w-0 flex-col gap-1">
            <div className="flex items-center justify-between">
              <h3 className="font-medium">{name}</h3>
              <CopyButton text={text} what={name} />
            </div>
            <Pre>{text}</Pre>
          </section>
        ))}
      </Dialog>
    </>
  )
}
