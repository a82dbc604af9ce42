import { Dialog as Base } from '@base-ui/react/dialog'
import type { ReactNode } from 'react'

interface DialogProps {
  title: string
  isOpen: boolean
  onClose: () => void
  children: ReactNode
  /** Buttons at the end; a safe one comes first. */
  actions?: ReactNode
  isWide?: boolean
}

/** Shows a modal dialog with a title, its content and its buttons. */
export function Dialog({ title, isOpen, onClose, children, actions, isWide = false }: DialogProps) {
  return (
    <Base.Root open={isOpen} onOpenChange={(open) => open || onClose()}>
      <Base.Portal>
        <Base.Backdrop className="fixed inset-0 z-40 bg-black/40" />
        <Base.Popup
          className={`border-line bg-panel fixed top-1/2 left-1/2 z-50 flex max-h-[90dvh] w-[calc(100vw-2rem)] -translate-x-1/2 -translate-y-1/2 flex-col gap-4 overflow-y-auto rounded-lg border p-5 shadow-xl ${isWide ? 'max-w-3xl' : 'max-w-lg'}`}
        >
          <Base.Title className="text-lg font-semibold">{title}</Base.Title>
          <div className="flex flex-col gap-3">{children}</div>
          {actions && <div className="flex flex-wrap justify-end gap-2">{actions}</div>}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  )
}
