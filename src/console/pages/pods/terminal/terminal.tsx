import { FitAddon } from '@xterm/addon-fit'
import { Terminal as Xterm } from '@xterm/xterm'
import { useEffect, useRef, useState } from 'react'
import '@xterm/xterm/css/xterm.css'
import { useApi } from '../../../app/session.ts'
import { Button } from '../../../parts/button.tsx'
import { Shell, type ShellState } from './shell.ts'

const COLOURS = { background: '#0e0f13', foreground: '#eceef4' }

/** A terminal in a pod. Ctrl and Shift and Escape together leave it, since Tab belongs to the shell (WCAG 2.1.2). */
export default function Terminal({ podId, name }: { podId: string; name: string }) {
  const { api, account } = useApi()
  const box = useRef<HTMLDivElement>(null)
  const after = useRef<HTMLButtonElement>(null)
  const [tries, setTries] = useState(0)
  const [{ state, words }, setSaid] = useState<{ state: ShellState; words: string }>({ state: 'connecting', words: 'Connecting' })
  // biome-ignore lint/correctness/useExhaustiveDependencies: each press of "Connect again" is another shell.
  useEffect(() => {
    const element = box.current
    if (element === null) return
    return open(element, {
      name,
      leave: () => after.current?.focus(),
      shellOf: (size, onOutput) =>
        new Shell(api.execInPod({ path: { id: podId }, query: { tty: true, ...size } }), account.id, {
          onOutput,
          onState: (next, said) => setSaid({ state: next, words: said }),
        }),
    })
  }, [api, account.id, podId, name, tries])
  return (
    <div className="flex flex-col gap-3">
      <p className="text-soft text-xs">
        Tab goes to the shell. <kbd>Ctrl</kbd> + <kbd>Shift</kbd> + <kbd>Escape</kbd> leaves the terminal.
      </p>
      <div ref={box} className="border-line h-[60dvh] min-h-60 overflow-hidden rounded-lg border bg-[#0e0f13] p-2" />
      <div className="flex flex-wrap items-center gap-3">
        <Button ref={after} disabledReason={state === 'ended' ? undefined : 'The shell is open.'} onClick={() => setTries(tries + 1)}>
          Connect again
        </Button>
        <span aria-live="polite" data-state={state}>
          {words}
        </span>
      </div>
    </div>
  )
}

interface Opened {
  name: string
  leave: () => void
  shellOf: (size: { rows: number; cols: number }, onOutput: (bytes: Uint8Array) => void) => Shell
}

/** Shows a terminal in an element and connects it; answers how both end. */
function open(element: HTMLElement, { name, leave, shellOf }: Opened): () => void {
  const xterm = new Xterm({ theme: COLOURS, fontSize: 13, screenReaderMode: true, cursorBlink: false })
  const fit = new FitAddon()
  xterm.loadAddon(fit)
  xterm.open(element)
  fit.fit()
  if (xterm.textarea) xterm.textarea.setAttribute('aria-label', `Terminal in ${name}. Control, Shift and Escape leave it.`)
  const shell = shellOf({ rows: xterm.rows, cols: xterm.cols }, (bytes) => xterm.write(bytes))
  xterm.onData((text) => shell.type(text))
  xterm.onResize(({ rows, cols }) => shell.resize(rows, cols))
  xterm.attachCustomKeyEventHandler((event) => {
    if (!(event.key === 'Escape' && event.ctrlKey && event.shiftKey)) return true
    if (event.type === 'keydown') leave()
    return false
  })
  const watcher = new ResizeObserver(() => fit.fit())
  watcher.observe(element)
  xterm.focus()
  return () => {
    watcher.disconnect()
    shell.close()
    xterm.dispose()
  }
}
