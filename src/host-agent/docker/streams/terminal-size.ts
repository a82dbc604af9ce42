import { sleep } from '../../../node/backoff.ts'

/** Growing pauses, so that a command that never accepts a size costs the engine only a few calls. */
const PAUSES_MS = [25, 50, 100, 200, 400, 800]

interface Size {
  rows: number
  cols: number
}

/**
 * Sets the size of a command's terminal. The engine reports the start of a command a moment before it starts, and refuses a size until
 * then, so the newest size is retried for a second and a half. Never throws: a command with another terminal size still runs.
 */
export class TerminalSize {
  private readonly set: (rows: number, cols: number) => Promise<void>
  private wanted: Size | null = null
  private setting: Promise<void> | undefined
  private isOver = false

  constructor(set: (rows: number, cols: number) => Promise<void>) {
    this.set = set
  }

  /** Resolves when this size, or a newer one, is set or given up. */
  async change(rows: number, cols: number): Promise<void> {
    if (this.isOver) return
    this.wanted = { rows, cols }
    this.setting ??= this.follow().finally(() => {
      this.setting = undefined
    })
    await this.setting
  }

  /** Stops calls to the engine, because the command is over. */
  end(): void {
    this.wanted = null
    this.isOver = true
  }

  private async follow(): Promise<void> {
    let refusals = 0
    while (this.wanted !== null) {
      const size = this.wanted
      const isSet = await this.set(size.rows, size.cols).then(
        () => true,
        () => false,
      )
      if (isSet) {
        if (this.wanted === size) this.wanted = null
        continue
      }
      const pauseMs = PAUSES_MS[refusals++]
      if (pauseMs === undefined) this.wanted = null
      else await sleep(pauseMs)
    }
  }
}
