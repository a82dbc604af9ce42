import { quoted } from '../../client/shell.ts'
import { usage } from './failure.ts'

/** A request as it would be sent. */
export interface Call {
  method: string
  url: string
  body: string | undefined
  /** The variable of the environment that has the key. */
  keyVariable: 'PODPLANE_API_KEY' | 'PODPLANE_OPERATOR_KEY'
}

/** Ends a command whose call is printed in place of being sent. */
export class Printed extends Error {
  override readonly name = 'Printed'
}

/** `--print`: notes what a command reads, and keeps back what it would change (CL-37). */
export class CallPrinter {
  private first: Call | undefined
  private readonly write: (text: string) => void
  private readonly end: (reason: Error) => void

  constructor(form: string, write: (text: string) => void, end: (reason: Error) => void) {
    if (form !== 'curl') throw usage(`--print ${form}: there is curl`)
    this.write = write
    this.end = end
  }

  /** What was read to find ids for names is not what the command is for. */
  reset(): void {
    this.first = undefined
  }

  /** Resolves for what may be sent. What changes something is printed, and the run ends before it could be. */
  async admit(call: Call, isStream: boolean): Promise<void> {
    this.first ??= call
    const isRead = call.method === 'GET' || new URL(call.url).searchParams.get('dryRun') === 'true'
    if (isRead && !isStream) return
    this.write(`${curlOf(isRead ? this.first : call)}\n`)
    this.end(new Printed())
    await new Promise(() => undefined)
  }

  /** Where nothing is changed, the first that was read is the call. */
  finish(): never {
    if (this.first === undefined) throw usage('this command sends no request')
    this.write(`${curlOf(this.first)}\n`)
    throw new Printed()
  }
}

/** A call for a shell; its key is read from the environment. */
export function curlOf({ method, url, body, keyVariable }: Call): string {
  const lines = [`curl -sS -X ${method} ${quoted(url)}`, `  -H "Authorization: Bearer $${keyVariable}"`]
  if (body !== undefined) lines.push(`  -H 'Content-Type: application/json'`, `  -d ${quoted(body)}`)
  return lines.join(' \\\n')
}
