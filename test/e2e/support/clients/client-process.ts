import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface, type Interface } from 'node:readline'

/** A Python client in a process of its own. It receives calls as lines of JSON, one after the other, and answers each with a line. */
export class ClientProcess {
  private readonly child: ChildProcess
  private readonly lines: Interface
  // Without stored credentials (DEV-12).
  private readonly home = mkdtempSync(join(tmpdir(), 'podplane-e2e-home-'))
  private readonly ended: Promise<never>

  /** `args`: the program beside this file, and its arguments. */
  constructor(python: string, [program, ...args]: readonly [string, ...string[]], env: Readonly<Record<string, string>>) {
    const child = spawn(python, ['-u', join(import.meta.dirname, program), ...args], {
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { PATH: process.env.PATH, HOME: this.home, ...env },
    })
    this.child = child
    this.lines = createInterface({ input: child.stdout })
    this.ended = new Promise((_, reject) => this.lines.once('close', () => reject(new Error(`the client ${program} ended`))))
    // The process also ends between calls.
    this.ended.catch(() => {})
  }

  /** Returns the result of the client's function; throws with the type and text of a raised exception. The caller states the shape. */
  async ask<T>(request: object): Promise<T> {
    const answered: Promise<unknown[]> = once(this.lines, 'line')
    this.child.stdin?.write(`${JSON.stringify(request)}\n`)
    const [line] = await Promise.race([answered, this.ended])
    const reply = JSON.parse(String(line)) as { result: T } | { error: string }
    if ('error' in reply) throw new Error(reply.error)
    return reply.result
  }

  stop(): void {
    this.child.kill()
    rmSync(this.home, { recursive: true, force: true })
  }
}
