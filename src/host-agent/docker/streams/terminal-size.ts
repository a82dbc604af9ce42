import { sleep } from '../../../node/backoff.ts'

const TRIES = 40
const TRY_AGAIN_MS = 50

interface Size {
  rows: number
  cols: number
}

/**
 * Sets the size of a command's terminal. The engine answers that it starts a command a moment before it does, and refuses a size until then: the
 * newest one is said again for two seconds. Never throws: a command whose terminal has another size runs all the same.
 */
export class TerminalSize {
  private readonly set: (rows: number, cols: number) => Promise<void>
  private wanted: Size | null = null
  private setting: Promise<void> | undefined

  constructor(set: (rows: number, cols: number) => Promise<void>) {
    this.set = set
  }

  /** Resolves when this size, or a newer one, is set or given up. */
  async change(rows: number, cols: number): Promise<void> {
    this.wanted = { rows, cols }
    this.setting ??= this.follow().finally(() => {
      this.setting = undefined
    })
    await this.setting
  }

  private async follow(): Promise<void> {
    for (let tries = 0; tries < TRIES && this.wanted !== null; tries += 1) {
      const size = this.wanted
      const isSet = await this.set(size.rows, size.cols).then(
        () => true,
        () => false,
      )
      if (!isSet) await sleep(TRY_AGAIN_MS)
      else if (this.wanted === size) this.wanted = null
    }
  }
}
