import { quoted } from '../../client/shell.ts'
import { usage } from './failure.ts'

/** Request that would be sent. */
export interface Call {
  method: string
  url: string
  body: string | undefined
  /** Environment variable that holds the key. */
  keyVariable: 'PODPLANE_API_KEY' | 'PODPLANE_OPERATOR_KEY'
}

/** Ends a command whose call was printed instead of sent. */
export class Printed extends Error {
  override readonly name = 'Printed'
}

/** Implements `--print`: reads are sent, and the first call that would change something is printed instead (CMD-37). */
export class CallPrinter {
  private first: Call | undefined
  private readonly write: (text: string) => void
  private readonly end: (reason: Error) => void

  constructor(form: string, write: (text: string) => void, end: (reason: Error) => void) {
    if (form !== 'curl') throw usage(`--print ${form}: it must be curl`)
    this.write = write
    this.end = end
  }

  /** Forgets the reads that resolved names to ids; they are not the purpose of the command. */
  reset(): void {
    this.first = undefined
  }

  /**
   * Resolves if the call may be sent. A call that changes something is printed, the run ends, and the promise never resolves; before a
   * stream, the first read of the command is printed in the same way.
   */
  async admit(call: Call, isStream: boolean): Promise<void> {
    this.first ??= call
    const isRead = call.method === 'GET' || new URL(call.url).searchParams.get('dryRun') === 'true'
    if (isRead && !isStream) return
    this.write(`${curlOf(isRead ? this.first : call)}\n`)
    this.end(new Printed())
    await new Promise(() => undefined)
  }

  /** If nothing was to be changed, prints the first read. Throws `Printed`. */
  finish(): never {
    if (this.first === undefined) throw usage('this command sends no request')
    this.write(`${curlOf(this.first)}\n`)
    throw new Printed()
  }
}

/** Call as a curl command; its key comes from the environment. */
export function curlOf({ method, url, body, keyVariable }: Call): string {
  const lines = [`curl -sS -X ${method} ${quoted(url)}`, `  -H "Authorization: Bearer $${keyVariable}"`]
  if (body !== undefined) lines.push(`  -H 'Content-Type: application/json'`, `  -d ${quoted(body)}`)
  return lines.join(' \\\n')
}
