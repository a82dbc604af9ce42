import { type FSWatcher, watch } from 'node:fs'

/** Several files are saved at once, and some editors write one in steps. */
const SETTLE_MS = 150
const IGNORED = /(^|[\\/])(\.git|\.podplane|\.venv|node_modules|__pycache__)([\\/]|$)|~$|\.(pyc|log|sw[opx]|tmp)$/

export function isSource(path: string): boolean {
  return !IGNORED.test(path)
}

/** Changes of the files in a directory, several in a row as one. */
export class Changes {
  private readonly watcher: FSWatcher
  private timer: NodeJS.Timeout | undefined
  private waiting: (() => void) | undefined
  private hasChanged = false

  constructor(directory: string) {
    this.watcher = watch(directory, { recursive: true }, (_event, path) => {
      if (path === null || isSource(path)) this.settle()
    })
  }

  /** Whether something has changed since this was last taken. */
  get pending(): boolean {
    return this.hasChanged
  }

  /** Resolves at the next change, or at once where one has come already. */
  async take(): Promise<void> {
    if (!this.hasChanged) await new Promise<void>((resolve) => (this.waiting = resolve))
    this.hasChanged = false
  }

  close(): void {
    clearTimeout(this.timer)
    this.watcher.close()
  }

  private settle(): void {
    clearTimeout(this.timer)
    this.timer = setTimeout(() => {
      this.hasChanged = true
      this.waiting?.()
      this.waiting = undefined
    }, SETTLE_MS)
  }
}
