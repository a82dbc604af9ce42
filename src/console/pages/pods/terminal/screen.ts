import { FitAddon } from '@xterm/addon-fit'
import { Terminal as Xterm } from '@xterm/xterm'
import '@xterm/xterm/css/xterm.css'
import type { Shell } from './shell.ts'

const COLORS = { background: '#0e0f13', foreground: '#eceef4' }
/**
 * Resets alternate screen, mouse and modes, which a program leaves set when its connection is lost, and marks the start of the next shell.
 */
const NEXT_SHELL =
  '\u001b[?1049l\u001b[?1000l\u001b[?1002l\u001b[?1003l\u001b[?2004l\u001b[!p\r\n\u001b[2m--- another shell ---\u001b[0m\r\n'

interface ScreenOptions {
  name: string
  leave: () => void
  shellOf: (size: { rows: number; cols: number }, onOutput: (bytes: Uint8Array) => void) => Shell
}

/** Terminal that shows one shell after another; the output of earlier shells stays. */
export class Screen {
  private readonly xterm = new Xterm({ theme: COLORS, fontSize: 13, screenReaderMode: true, cursorBlink: false })
  private readonly watcher: ResizeObserver
  private readonly options: ScreenOptions
  private shell: Shell | undefined

  constructor(element: HTMLElement, options: ScreenOptions) {
    this.options = options
    const { xterm } = this
    const fit = new FitAddon()
    xterm.loadAddon(fit)
    xterm.open(element)
    fit.fit()
    if (xterm.textarea) xterm.textarea.setAttribute('aria-label', `Terminal in ${options.name}. Control, Shift and Escape leave it.`)
    // Input is dropped while there is no shell; the next shell does not receive it.
    xterm.onData((text) => this.shell?.type(text))
    xterm.onResize(({ rows, cols }) => this.shell?.resize(rows, cols))
    xterm.attachCustomKeyEventHandler((event) => {
      if (!(event.key === 'Escape' && event.ctrlKey && event.shiftKey)) return true
      if (event.type === 'keydown') options.leave()
      return false
    })
    this.watcher = new ResizeObserver(() => fit.fit())
    this.watcher.observe(element)
  }

  /** Opens a shell and closes the previous one. */
  connect(): void {
    const { xterm } = this
    if (this.shell !== undefined) {
      this.shell.close()
      xterm.write(NEXT_SHELL)
    }
    this.shell = this.options.shellOf({ rows: xterm.rows, cols: xterm.cols }, (bytes) => xterm.write(bytes))
    xterm.focus()
  }

  close(): void {
    this.watcher.disconnect()
    this.shell?.close()
    this.xterm.dispose()
  }
}
