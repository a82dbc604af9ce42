import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { CONNECTIONS, type LoadResult, type Target } from './target.ts'

const execute = promisify(execFile)

/** Long enough that a slow machine is measured as slow instead of failing. */
const TIMEOUT = '30s'

/** Runs the load generator `wrk`. It needs half the processor time of a JavaScript generator, so more is left for the measured plane. */
export async function runWrk(program: string, target: Target, seconds: number): Promise<LoadResult> {
  const directory = mkdtempSync(join(tmpdir(), 'podplane-wrk-'))
  try {
    const script = join(directory, 'request.lua')
    writeFileSync(script, scriptOf(target))
    const load = ['--threads', '1', '--connections', String(CONNECTIONS), '--duration', `${seconds}s`, '--timeout', TIMEOUT]
    const { stdout } = await execute(program, [...load, '--script', script, target.url])
    return parseReport(stdout)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

// A JSON string of plain text, as used here, is also a Lua string.
function scriptOf({ method, headers = {}, body }: Target): string {
  const lines = [`wrk.method = ${JSON.stringify(method)}`]
  for (const [name, value] of Object.entries(headers)) lines.push(`wrk.headers[${JSON.stringify(name)}] = ${JSON.stringify(value)}`)
  if (body !== undefined) lines.push(`wrk.body = ${JSON.stringify(body)}`)
  return `${lines.join('\n')}\n`
}

/** Parses the report of `wrk`. Throws if the format is unknown. */
export function parseReport(report: string): LoadResult {
  const perSecond = Number(/^Requests\/sec: *([\d.]+)/m.exec(report)?.[1])
  const requests = Number(/^ *(\d+) requests in/m.exec(report)?.[1])
  if (Number.isNaN(perSecond) || Number.isNaN(requests)) throw new Error(`wrk said something else than expected:\n${report}`)
  const refused = Number(/Non-2xx or 3xx responses: (\d+)/.exec(report)?.[1] ?? 0)
  const broken = /Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)/.exec(report)?.slice(1) ?? []
  return { perSecond, requests, failures: broken.reduce((sum, count) => sum + Number(count), refused) }
}
