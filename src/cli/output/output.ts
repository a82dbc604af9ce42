import type { Globals, Io } from '../core/io.ts'
import { type Column, pick, plainText } from './columns.ts'
import { formatRecord, formatTable, type TableStyle } from './table.ts'

/** Form in which a list is printed. */
export interface ListView<Row> {
  columns: readonly Column<Row>[]
  idOf: (row: Row) => string
  /** Message on a terminal for an empty list, with the command that adds an entry. */
  empty: string
}

/** Output of a command: data to stdout in the form that its reader needs, messages to stderr (CMD-1). */
export class Output {
  private readonly io: Io
  private readonly globals: Globals
  private isTalking = false
  private isMute = false
  /** Whether anything was written to stdout. */
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

  /** Prints a list: the whole answer with `--json`, ids with `-q`, a table on a terminal, else tab-separated values without a heading. */
  list<Row>(answer: unknown, rows: readonly Row[], view: ListView<Row>): void {
    if (this.isJson) this.json(answer, rows)
    else if (this.globals.quiet) this.lines(rows.map(view.idOf))
    else if (!this.isTerminal) this.lines(rows.map((row) => view.columns.map(({ of }) => plainText(of(row))).join('\t')))
    else if (rows.length === 0) this.talk(view.empty)
    else this.raw(formatTable(rows, view.columns, this.style()))
  }

  /** Prints one record; to a pipe, one name and value per line. */
  record(answer: unknown, id?: string): void {
    if (this.isJson) this.json(answer)
    else if (this.globals.quiet) this.lines(id === undefined ? [] : [id])
    else if (typeof answer !== 'object' || answer === null) this.lines(answer === undefined ? [] : [plainText(answer)])
    else if (this.isTerminal) this.raw(formatRecord(answer as Record<string, unknown>, this.style()))
    else this.lines(Object.entries(answer).map(([name, value]) => `${name}	${plainText(value)}`))
  }

  /** Prints the result of a change: JSON with `--json`; else its id on stdout and the message on stderr. */
  done(answer: unknown, id: string, what: string): void {
    if (this.isJson) this.json(answer ?? { id })
    else this.lines([id])
    if (!this.globals.quiet) this.talk(what)
  }

  /** Prints one event of a stream: one object per line with `--json`, else its text. */
  event(value: unknown, text: string): void {
    this.raw(this.isJson ? `${JSON.stringify(this.fields.length > 0 ? pick(value, this.fields) : value)}\n` : text)
  }

  lines(lines: readonly string[]): void {
    if (lines.length > 0) this.raw(`${lines.join('\n')}\n`)
  }

  /** Suppresses all output; with `--print`, the printer writes instead. */
  mute(): void {
    this.isMute = true
  }

  raw(text: string | Uint8Array): void {
    if (this.isMute) return
    this.hasSaid = true
    this.io.stdout.write(text)
  }

  /** Prints a message for users. */
  talk(text: string): void {
    this.endProgress()
    if (!this.globals.quiet && !this.isMute) this.io.stderr.write(`${text}\n`)
  }

  /** Shows the state of a wait, on a terminal in one line that is overwritten. */
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

  style(): TableStyle {
    const { NO_COLOR, TERM } = this.io.env
    const color = this.isTerminal && !NO_COLOR && TERM !== 'dumb'
    // A terminal of unknown width reports 0.
    return { nowMs: this.io.nowMs(), color, ...(this.io.stdout.columns && { width: this.io.stdout.columns }) }
  }
}
