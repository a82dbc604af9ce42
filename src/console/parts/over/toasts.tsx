import { Toast } from '@base-ui/react/toast'

/** Toasts about completed actions; they are read out and stay while hovered or focused. */
export function Toasts() {
  const { toasts } = Toast.useToastManager()
  return (
    <Toast.Portal>
      <Toast.Viewport className="fixed right-4 bottom-4 z-50 flex w-88 max-w-[calc(100vw-2rem)] flex-col gap-2">
        {toasts.map((toast) => (
          <Toast.Root key={toast.id} toast={toast} className="border-line bg-panel rounded-lg border p-3 shadow-lg">
            <Toast.Title className={`font-medium ${toast.type === 'error' ? 'text-bad' : ''}`} />
            <Toast.Description className="text-soft mt-1 break-words" />
            <div className="mt-2 flex gap-2">
              <Toast.Action className="text-accent font-medium empty:hidden" />
              <Toast.Close className="text-soft" aria-label="Close this message">
                Close
              </Toast.Close>
            </div>
          </Toast.Root>
        ))}
      </Toast.Viewport>
    </Toast.Portal>
  )
}
