import type { Globals, Io } from '../core/io.ts'
import { type Column, pick, plainText } from './columns.ts'
import { formatRecord, formatTable, type Look } from './table.ts'

export interface ListView<Row> {
  columns: readonly Column<Row>[]
  idOf: (row: Row) => string
  /** What to say on a terminal where there is nothing, with the command that changes it. */
  empty: string
}

/** What a command says: data to stdout, in the form that its reader needs, and talk to stderr (CL-1). */
export class Output {
  private readonly io: Io
  private readonly globals: Globals
  private isTalking = false
  private isMute = false
  /** Whether anything has gone to stdout. */
  hasSaid = false

  constructor(io: Io, globals: Globals) {
    this.io = io
    this.globals = globals
  }

  get isTerminal(): boolean {
    return this.io.stdout.isTTY === true
  }

  get isJson(): boolean {
    return this.globals.json !== undefined
  }

  /** A list: the whole answer with `--json`, ids with `-q`, a table on a terminal, else tab-separated values without a heading. */
  list<Row>(answer: unknown, rows: readonly Row[], view: ListView<Row>): void {
    if (this.isJson) this.json(answer, rows)
    else if (this.globals.quiet) this.lines(rows.map(view.idOf))
    else if (!this.isTerminal) this.lines(rows.map((row) => view.columns.map(({ of }) => plainText(of(row))).join('\t')))
    else if (rows.length === 0) this.talk(view.empty)
    else this.raw(formatTable(rows, view.columns, this.look()))
  }

  /** One record. Piped it is a name and a value a line. */
  record(answer: unknown, id?: string): void {
    if (this.isJson) this.json(answer)
    else if (this.globals.quiet) this.lines(id === undefined ? [] : [id])
    else if (typeof answer !== 'object' || answer === null) this.lines(answer === undefined ? [] : [plainText(answer)])
    else if (this.isTerminal) this.raw(formatRecord(answer as Record<string, unknown>, this.look()))
    else this.lines(Object.entries(answer).map(([name, value]) => `${name}	${plainText(value)}`))
  }

  /** What a change has led to: JSON with `--json`; else its id on stdout, and what was done on stderr. */
  done(answer: unknown, id: string, what: string): void {
    if (this.isJson) this.json(answer ?? { id })
    else this.lines([id])
    if (!this.globals.quiet) this.talk(what)
  }

  /** One event of a stream: an object a line with `--json`, else its text. */
  event(value: unknown, text: string): void {
    this.raw(this.isJson ? `${JSON.stringify(this.fields.length > 0 ? pick(value, this.fields) : value)}\n` : text)
  }

  lines(lines: readonly string[]): void {
    if (lines.length > 0) this.raw(`${lines.join('\n')}\n`)
  }

  /** Nothing is said from now on: what is printed comes from elsewhere. */
  mute(): void {
    this.isMute = true
  }

  raw(text: string | Uint8Array): void {
    if (this.isMute) return
    this.hasSaid = true
    this.io.stdout.write(text)
  }

  /** A sentence for people. */
  talk(text: string): void {
    this.endProgress()
    if (!this.globals.quiet && !this.isMute) this.io.stderr.write(`${text}\n`)
  }

  /** The state of a wait, in one line that is written over on a terminal. */
  progress(text: string): void {
    if (this.globals.quiet || this.isMute) return
    if (this.io.stderr.isTTY !== true) {
      this.io.stderr.write(`${text}\n`)
      return
    }
    const width = this.io.stderr.columns || 80
    this.io.stderr.write(`\r\u001b[2K${text.slice(0, width - 1)}`)
    this.isTalking = true
  }

  endProgress(): void {
    if (this.isTalking) this.io.stderr.write('\r\u001b[2K')
    this.isTalking = false
  }

  private get fields(): string[] {
    return typeof this.globals.json === 'string' ? this.globals.json.split(',') : []
  }

  private json(answer: unknown, rows?: readonly unknown[]): void {
    const { fields } = this
    const value = fields.length === 0 ? answer : rows === undefined ? pick(answer, fields) : rows.map((row) => pick(row, fields))
    this.raw(`${JSON.stringify(value ?? null, null, 2)}\n`)
  }

  look(): Look {
    const { NO_COLOR, TERM } = this.io.env
    const colour = this.isTerminal && !NO_COLOR && TERM !== 'dumb'
    // A terminal that does not know its width says 0.
    return { nowMs: this.io.nowMs(), colour, ...(this.io.stdout.columns && { width: this.io.stdout.columns }) }
  }
}
