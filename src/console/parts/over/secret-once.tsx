import { Button } from '../button.tsx'
import { Dialog } from '../dialog.tsx'
import { Command } from '../view-state.tsx'

/** Dialog with a new secret, which is shown only once. */
export function SecretOnce({ title, secret, hint, onClose }: { title: string; secret: string | null; hint: string; onClose: () => void }) {
  return (
    <Dialog
      title={title}
      isOpen={secret !== null}
      onClose={onClose}
      actions={
        <Button kind="primary" onClick={onClose}>
          I have stored it
        </Button>
      }
    >
      <p>{hint}</p>
      {secret !== null && <Command text={secret} />}
    </Dialog>
  )
}
