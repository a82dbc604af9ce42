import { sleep } from '../../../node/backoff.ts'

/** Longer and longer, so that a command which never takes a size costs the engine a few calls. */
const PAUSES_MS = [25, 50, 100, 200, 400, 800]

interface Size {
  rows: number
  cols: number
}

/**
 * Sets the size of a command's terminal. The engine answers that it starts a command a moment before it does, and refuses a size until then: the
 * newest one is said again, for a second and a half. Never throws: a command whose terminal has another size runs all the same.
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

  /** The command is over: nothing is said to the engine any more. */
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
