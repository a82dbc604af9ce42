import { type FSWatcher, watch } from 'node:fs'

/** Pause after the last file event, milliseconds: several files are saved at once, and some editors write a file in steps. */
const DEBOUNCE_MS = 150
const IGNORED = /(^|[\\/])(\.git|\.podplane|\.venv|node_modules|__pycache__)([\\/]|$)|~$|\.(pyc|log|sw[opx]|tmp)$/

/** Whether a change of this path counts: generated, installed and temporary files are ignored. */
export function isSource(path: string): boolean {
  return !IGNORED.test(path)
}

/** Watches the source files of a directory; events in quick succession count as one change. */
export class Changes {
  private readonly watcher: FSWatcher
  private timer: NodeJS.Timeout | undefined
  private waiting: (() => void) | undefined
  private hasChanged = false

  constructor(directory: string) {
    this.watcher = watch(directory, { recursive: true }, (_event, path) => {
      if (path === null || isSource(path)) this.debounce()
    })
  }

  /** Whether there was a change since the last `take`. */
  get pending(): boolean {
    return this.hasChanged
  }

  /** Resolves at the next change, or at once if there was one. */
  async take(): Promise<void> {
    if (!this.hasChanged) await new Promise<void>((resolve) => (this.waiting = resolve))
    this.hasChanged = false
  }

  close(): void {
    clearTimeout(this.timer)
    this.watcher.close()
  }

  private debounce(): void {
    clearTimeout(this.timer)
    this.timer = setTimeout(() => {
      this.hasChanged = true
      this.waiting?.()
      this.waiting = undefined
    }, DEBOUNCE_MS)
  }
}
