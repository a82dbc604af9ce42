import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'

const Head = z.object({ target: z.string(), headers: z.record(z.string(), z.string()) })

/** A result that the plane has not taken yet. */
export interface SpooledResult {
  target: string
  headers: Record<string, string>
  body: Buffer
}

const NEWLINE = 0x0a

/** Results on disk: a line of JSON, then the body as it came. What is in here survives the end of the agent. */
export class ResultSpool {
  private readonly dir: string
  private next = Date.now()

  constructor(dir: string) {
    this.dir = dir
    mkdirSync(dir, { recursive: true, mode: 0o700 })
  }

  /** Writes a result and returns how to remove it. The file holds the worker's key, hence the mode. */
  add({ target, headers, body }: SpooledResult): () => void {
    this.next += 1
    const path = join(this.dir, `${this.next}.result`)
    writeFileSync(path, Buffer.concat([Buffer.from(`${JSON.stringify({ target, headers })}\n`), body]), { mode: 0o600 })
    return () => rmSync(path, { force: true })
  }

  /** What a former agent process left, oldest first. */
  takeOver(): { result: SpooledResult; remove: () => void }[] {
    const names = readdirSync(this.dir).filter((name) => name.endsWith('.result'))
    return names.toSorted().flatMap((name) => {
      const path = join(this.dir, name)
      const result = parseSpooled(readFileSync(path))
      if (result === undefined) rmSync(path)
      return result === undefined ? [] : [{ result, remove: () => rmSync(path, { force: true }) }]
    })
  }
}

function parseSpooled(file: Buffer): SpooledResult | undefined {
  const end = file.indexOf(NEWLINE)
  try {
    return { ...Head.parse(JSON.parse(file.toString('utf8', 0, end))), body: file.subarray(end + 1) }
  } catch {
    // Half written when the machine went down; its worker was never told that it is safe.
    return undefined
  }
}
