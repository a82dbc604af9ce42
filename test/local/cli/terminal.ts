import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import type { Io } from '../../../src/cli/core/io.ts'
import { runPodplane } from '../../../src/cli/run.ts'

export const NOW_MS = Date.parse('2026-06-01T12:00:00Z')

export interface Ran {
  code: number
  stdout: string
  stderr: string
}

export interface Asked {
  method: string
  url: string
  key: string | undefined
  idempotencyKey: string | undefined
  body: unknown
}

type Reply = { status?: number; body?: unknown; text?: string; headers?: Record<string, string>; drop?: boolean }
/** The answers of a plane by request; undefined is 404. */
export type Routes = Record<string, Reply | ((asked: Asked, count: number) => Reply)>

/** A plane of a test, by `METHOD /path`; it records its requests. */
export class ToyPlane {
  readonly asked: Asked[] = []
  private readonly server: Server

  private constructor(routes: Routes) {
    this.server = createServer(async (request, response) => {
      const parts: Buffer[] = []
      for await (const part of request) parts.push(part as Buffer)
      const text = Buffer.concat(parts).toString()
      const asked: Asked = {
        method: request.method ?? '',
        url: request.url ?? '',
        key: request.headers.authorization?.replace('Bearer ', ''),
        idempotencyKey: request.headers['idempotency-key']?.toString(),
        body: text === '' ? undefined : JSON.parse(text),
      }
      this.asked.push(asked)
      const name = `${asked.method} ${asked.url}`
      const route = routes[name] ?? routes[name.split('?')[0] ?? '']
      const count = this.asked.filter(({ method, url }) => `${method} ${url}` === name).length
      const missing = { status: 404, body: { title: 'Not Found', status: 404, detail: `pod not found` } }
      const reply: Reply = (typeof route === 'function' ? route(asked, count) : route) ?? missing
      const { status = 200, body, text: raw, headers = {}, drop } = reply
      if (drop) return void request.socket.destroy()
      response.writeHead(status, { 'x-request-id': 'req_1', ...headers }).end(raw ?? (body === undefined ? '' : JSON.stringify(body)))
    })
  }

  static async open(routes: Routes): Promise<ToyPlane> {
    const plane = new ToyPlane(routes)
    await new Promise<void>((resolve) => plane.server.listen(0, '127.0.0.1', resolve))
    return plane
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`
  }

  async close(): Promise<void> {
    this.server.closeAllConnections()
    await new Promise((resolve) => this.server.close(resolve))
  }
}

export interface RunOptions {
  plane?: Pick<ToyPlane, 'url'>
  env?: Record<string, string>
  terminal?: boolean
  columns?: number
  stdin?: string
  cwd?: string
  home?: string
  interrupted?: AbortSignal
}

/** Runs a command line in this process, in a home of its own. */
export async function podplane(argv: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const scratch = mkdtempSync(join(tmpdir(), 'podplane-cli-'))
  const heard = { stdout: '', stderr: '' }
  const sink = (name: 'stdout' | 'stderr') => ({
    write: (text: string | Uint8Array) => {
      heard[name] += typeof text === 'string' ? text : Buffer.from(text).toString()
      return true
    },
    isTTY: options.terminal === true,
    columns: options.columns ?? 120,
  })
  const ofPlane = options.plane === undefined ? {} : { PODPLANE_URL: options.plane.url, PODPLANE_API_KEY: 'pp_key' }
  const io: Io = {
    env: { ...ofPlane, ...options.env },
    cwd: options.cwd ?? scratch,
    home: options.home ?? scratch,
    stdin: Readable.from(options.stdin === undefined ? [] : [options.stdin]),
    stdout: sink('stdout'),
    stderr: sink('stderr'),
    // Advances the time, so that waits end.
    nowMs: () => NOW_MS + Math.round(performance.now() - startedAt),
  }
  const startedAt = performance.now()
  try {
    return { code: await runPodplane(argv, io, options.interrupted), ...heard }
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}
