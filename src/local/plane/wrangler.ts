import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { PROJECT_ROOT } from '../paths.ts'

/** Environment that stops wrangler from reporting usage, checking for updates and requesting the location of this machine. */
export const WRANGLER_ENV = {
  WRANGLER_SEND_METRICS: 'false',
  DO_NOT_TRACK: '1',
  WRANGLER_HIDE_BANNER: 'true',
  NO_UPDATE_NOTIFIER: '1',
  CLOUDFLARE_CF_FETCH_ENABLED: 'false',
}

const WRANGLER = join(PROJECT_ROOT, 'node_modules/wrangler/bin/wrangler.js')

/** Runs the pinned wrangler on the terminal of this process; resolves with its exit code. */
export function runWrangler(args: readonly string[]): Promise<number> {
  const child = spawn(process.execPath, [WRANGLER, ...args], {
    cwd: PROJECT_ROOT,
    stdio: 'inherit',
    env: { ...process.env, ...WRANGLER_ENV },
  })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code) => resolve(code ?? 1))
  })
}

/** Runs the pinned wrangler and captures its output. Throws an error with its last lines if it fails. */
export function captureWrangler(args: readonly string[]): Promise<void> {
  const child = spawn(process.execPath, [WRANGLER, ...args], {
    cwd: PROJECT_ROOT,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...WRANGLER_ENV, CI: 'true', NO_COLOR: '1' },
  })
  let output = ''
  const keep = (chunk: Buffer) => {
    output = (output + chunk).slice(-OUTPUT_TAIL_CHARS)
  }
  child.stdout.on('data', keep)
  child.stderr.on('data', keep)
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => {
      if (code === 0) resolve()
      else reject(new Error(`wrangler ${args[0]} failed:\n${output.trim()}`))
    })
  })
}

const OUTPUT_TAIL_CHARS = 8_192
