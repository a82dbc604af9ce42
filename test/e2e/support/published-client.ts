import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface, type Interface } from 'node:readline'
import type { TestPlane } from './plane.ts'

/** A published Python client in a process of its own, pointed at a plane; calls one after the other. */
export class PublishedClient {
  private readonly child: ChildProcess
  private readonly lines: Interface
  private readonly home: string
  private readonly ended: Promise<never>

  /** `packages`: a folder whose packages come before those of the interpreter. */
  constructor(
    python: string,
    client: 'runpod' | 'dstack' | 'gpuhunt',
    { url, apiKey }: Pick<TestPlane, 'url' | 'apiKey'>,
    packages?: string,
  ) {
    // A home without stored credentials.
    this.home = mkdtempSync(join(tmpdir(), 'podplane-e2e-home-'))
    const settings = { RUNPOD_API_KEY: apiKey, RUNPOD_API_BASE_URL: url, RUNPOD_ENDPOINT_BASE_URL: `${url}/v2` }
    this.child = spawn(python, ['-u', join(import.meta.dirname, 'published_client.py'), client], {
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { PATH: process.env.PATH, HOME: this.home, PLANE: url, ...settings, ...(packages !== undefined && { PYTHONPATH: packages }) },
    })
    if (!this.child.stdout) throw new Error('the client has no output')
    this.lines = createInterface({ input: this.child.stdout })
    this.ended = new Promise((_, reject) => this.lines.once('close', () => reject(new Error(`the client ${client} ended`))))
    // It ends between calls too.
    this.ended.catch(() => {})
  }

  /** Returns what the client's function returned; throws with the type and text of what it raised. The caller states the shape. */
  async call<T>(name: string, args: readonly unknown[] = [], named: Record<string, unknown> = {}): Promise<T> {
    const answered: Promise<unknown[]> = once(this.lines, 'line')
    this.child.stdin?.write(`${JSON.stringify({ call: name, args, named })}\n`)
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
