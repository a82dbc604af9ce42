import { execFileSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const SOURCE = new URL('./wall-clock.c', import.meta.url).pathname

/** A wall clock for programs of a test alone, which can be set while they run. */
export class WallClock {
  private readonly directory = mkdtempSync(join(tmpdir(), 'podplane-clock-'))
  private readonly file = join(this.directory, 'offset')
  private readonly library = join(this.directory, 'wall-clock.so')

  constructor() {
    execFileSync('gcc', ['-O2', '-shared', '-fPIC', '-o', this.library, SOURCE])
    writeFileSync(this.file, Buffer.alloc(8))
  }

  /** The environment with which a program and its children read this clock. */
  get env(): Record<string, string> {
    return { LD_PRELOAD: this.library, CLOCK_OFFSET_FILE: this.file }
  }

  /** Sets the clock this many seconds off the clock of the machine. */
  set(offsetSeconds: number): void {
    const bytes = Buffer.alloc(8)
    bytes.writeBigInt64LE(BigInt(offsetSeconds) * 1_000_000_000n)
    const file = openSync(this.file, 'r+')
    writeSync(file, bytes, 0, bytes.length, 0)
    closeSync(file)
  }

  remove(): void {
    rmSync(this.directory, { recursive: true, force: true })
  }
}
