import { useEffect, useRef, useState } from 'react'
import { useApi } from '../../../hooks/session.ts'
import { Button } from '../../../parts/button.tsx'
import { Screen } from './screen.ts'
import { Shell, type ShellState } from './shell.ts'

/** Terminal in a pod. Ctrl+Shift+Escape leaves it, since the shell needs Tab (WCAG 2.1.2). */
export default function Terminal({ podId, name }: { podId: string; name: string }) {
  const { api, account } = useApi()
  const box = useRef<HTMLDivElement>(null)
  const screen = useRef<Screen>(null)
  const after = useRef<HTMLButtonElement>(null)
  const [{ state, message }, setSaid] = useState<{ state: ShellState; message: string }>({ state: 'connecting', message: 'Connecting' })
  useEffect(() => {
    const element = box.current
    if (element === null) return
    const made = new Screen(element, {
      name,
      leave: () => after.current?.focus(),
      shellOf: (size, onOutput) =>
        new Shell(api.execInPod({ path: { id: podId }, query: { tty: true, ...size } }), account.id, {
          onOutput,
          onState: (next, said) => setSaid({ state: next, message: said }),
        }),
    })
    screen.current = made
    made.connect()
    return () => made.close()
  }, [api, account.id, podId, name])
  return (
    <div className="flex flex-col gap-3">
      <p className="text-soft text-xs">
        Tab goes to the shell. <kbd>Ctrl</kbd> + <kbd>Shift</kbd> + <kbd>Escape</kbd> leaves the terminal.
      </p>
      <div ref={box} className="border-line h-[60dvh] min-h-60 overflow-hidden rounded-lg border bg-[#0e0f13] p-2" />
      <div className="flex flex-wrap items-center gap-3">
        <Button ref={after} disabledReason={state === 'ended' ? undefined : 'The shell is open.'} onClick={() => screen.current?.connect()}>
          Connect again
        </Button>
        <span aria-live="polite" data-state={state}>
          {message}
        </span>
      </div>
    </div>
  )
}
