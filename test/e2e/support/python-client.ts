import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface, type Interface } from 'node:readline'
import { pythonClient } from './worker-image.ts'

interface Request {
  call: 'run_sync' | 'run' | 'status' | 'output' | 'stream' | 'cancel' | 'health' | 'purge_queue' | 'terminate_pod'
  input?: Record<string, unknown>
  job?: string
  pod?: string
  /** Another key than the one of the plane. */
  key?: string
}

/** The public Python client in a process of its own, pointed at a plane; calls one after the other. */
export class PythonClient {
  private readonly child: ChildProcess
  private readonly lines: Interface
  private readonly key: string
  private readonly home: string
  private readonly ended: Promise<never>

  private constructor(child: ChildProcess, lines: Interface, key: string, home: string) {
    this.child = child
    this.lines = lines
    this.key = key
    this.home = home
    this.ended = new Promise((_, reject) => lines.once('close', () => reject(new Error('the Python client ended'))))
    // It ends between calls too.
    this.ended.catch(() => {})
  }

  static async start(plane: { url: string; apiKey: string }): Promise<PythonClient> {
    const python = await pythonClient()
    // CLI-11: a home without stored credentials.
    const home = mkdtempSync(join(tmpdir(), 'podplane-e2e-home-'))
    const child = spawn(python, ['-u', join(import.meta.dirname, 'python_client.py')], {
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { PATH: process.env.PATH, HOME: home, RUNPOD_ENDPOINT_BASE_URL: `${plane.url}/v2`, RUNPOD_API_BASE_URL: plane.url },
    })
    return new PythonClient(child, createInterface({ input: child.stdout }), plane.apiKey, home)
  }

  /** Returns what the client's method returned; throws with the type and text of what it raised. */
  async call<T>(endpoint: string, request: Request): Promise<T> {
    const answered: Promise<unknown[]> = once(this.lines, 'line')
    this.child.stdin?.write(`${JSON.stringify({ endpoint, key: this.key, ...request })}\n`)
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
