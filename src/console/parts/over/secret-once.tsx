import { Button } from '../button.tsx'
import { Command } from '../faces.tsx'
import { Dialog } from './dialog.tsx'

/** A secret that the plane has just made: it is shown this once, and gone with the dialog. */
export function SecretOnce({ title, secret, hint, onClose }: { title: string; secret: string | null; hint: string; onClose: () => void }) {
  return (
    <Dialog
      title={title}
      isOpen={secret !== null}
      onClose={onClose}
      actions={
        <Button kind="primary" onClick={onClose}>
          I have kept it
        </Button>
      }
    >
      <p>{hint}</p>
      {secret !== null && <Command text={secret} />}
    </Dialog>
  )
}
