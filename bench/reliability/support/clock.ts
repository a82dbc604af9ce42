import { execFileSync } from 'node:child_process'
import { chmodSync, closeSync, openSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { CHECKOUT, type Lab } from './lab.ts'

const SHIM = join(import.meta.dirname, 'clock-shim.c')
const RUNTIME = join(CHECKOUT, 'node_modules/@cloudflare/workerd-linux-64/bin/workerd')
const NANOSECONDS = 1_000_000_000n

/** Changes the wall clock of a plane's runtime only, by a preloaded library. The machine's clock stays unchanged. */
export class RuntimeClock {
  /** Variables for the environment of the launcher. */
  readonly env: Record<string, string>
  private readonly file: string

  constructor(lab: Lab, name: string) {
    this.file = lab.path(`${name}.offset`)
    writeFileSync(this.file, Buffer.alloc(8))
    const library = lab.path(`${name}.so`)
    execFileSync('cc', ['-shared', '-fPIC', '-O2', '-o', library, SHIM], { stdio: ['ignore', 'ignore', 'pipe'] })
    const wrapper = lab.path(`${name}.workerd`)
    writeFileSync(wrapper, `#!/bin/sh\nLD_PRELOAD=${library} RELIABILITY_CLOCK=${this.file} exec ${RUNTIME} "$@"\n`)
    chmodSync(wrapper, 0o755)
    this.env = { MINIFLARE_WORKERD_PATH: wrapper }
  }

  /** Sets the offset to the machine's clock, seconds. */
  set(seconds: number): void {
    const offset = Buffer.alloc(8)
    offset.writeBigInt64LE(BigInt(seconds) * NANOSECONDS)
    // Written in place, because the file is memory-mapped.
    const file = openSync(this.file, 'r+')
    writeSync(file, offset, 0, offset.length, 0)
    closeSync(file)
  }
}
