import { spawn } from 'node:child_process'

/** A command that ended in time. */
export interface Ended {
  code: number
  stdout: string
  /** The beginning of its error output. */
  stderr: string
}

const COMPLAINT_MAX_CHARS = 300
const FOUND_WITHIN_MS = 10_000

/**
 * Runs a command on files that may be on an unavailable server. A process that waits for such a file cannot be killed, so the command is
 * abandoned after `withinMs`; undefined then, and when it cannot be started. No thread of Node's file pool is blocked by it.
 */
export function boundedRun(
  command: string,
  args: readonly string[],
  { withinMs, env = {} }: { withinMs: number; env?: Record<string, string> },
): Promise<Ended | undefined> {
  return new Promise((resolve) => {
    const child = spawn(command, [...args], { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, LC_ALL: 'C', ...env } })
    const [out, complaint] = [new OutputText(OUTPUT_MAX_BYTES), new OutputText(COMPLAINT_MAX_CHARS)]
    const end = (ended: Ended | undefined) => {
      clearTimeout(timer)
      resolve(ended)
    }
    const timer = setTimeout(() => {
      child.kill('SIGKILL')
      for (const stream of [child.stdout, child.stderr]) stream.destroy()
      child.unref()
      end(undefined)
    }, withinMs)
    child.stdout.on('data', (chunk: Buffer) => out.add(chunk))
    child.stderr.on('data', (chunk: Buffer) => complaint.add(chunk))
    child.once('error', () => end(undefined))
    child.once('close', (code) => end(code === null ? undefined : { code, stdout: out.text(), stderr: complaint.text().trim() }))
  })
}

/** Returns the reason when one of these programs is not installed, with the packages that have them; null: all are. */
export async function missingTool(tools: readonly string[], packages: string): Promise<string | null> {
  for (const tool of tools) {
    const found = await boundedRun('sh', ['-c', 'command -v "$0"', tool], { withinMs: FOUND_WITHIN_MS })
    if (found?.code !== 0) return `${tool} is not installed (packages ${packages})`
  }
  return null
}

/** Maximum output of a command that is retained: the names of some ten thousand volumes. */
const OUTPUT_MAX_BYTES = 4 * 2 ** 20

/** Collects the beginning of a stream, up to `maxBytes`. */
class OutputText {
  private readonly chunks: Buffer[] = []
  private readonly maxBytes: number
  private bytes = 0

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes
  }

  add(chunk: Buffer): void {
    const part = chunk.subarray(0, this.maxBytes - this.bytes)
    this.bytes += part.length
    if (part.length > 0) this.chunks.push(part)
  }

  text(): string {
    return Buffer.concat(this.chunks).toString('utf8')
  }
}
