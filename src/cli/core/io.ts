/** Stream for text output. */
export interface Sink {
  write(text: string | Uint8Array): boolean
  isTTY?: boolean | undefined
  columns?: number | undefined
  rows?: number | undefined
}

/** Environment of one run: the process, or the substitutes of a test. */
export interface Io {
  env: Readonly<Record<string, string | undefined>>
  cwd: string
  home: string
  stdin: NodeJS.ReadableStream & { isTTY?: boolean | undefined }
  stdout: Sink
  stderr: Sink
  nowMs(): number
}

/** Flags of every command. */
export interface Globals {
  context?: string
  url?: string
  /** True, or the selected field names, comma-separated. */
  json?: true | string
  quiet?: boolean
  /** False for `--no-input`. */
  input?: boolean
  /** Every question about a loss is answered with yes. */
  yes?: boolean
  /** Longest time of the command, or of its wait; milliseconds. */
  timeout?: number
  debug?: boolean
  /** `curl`: the call is printed instead of sent. */
  print?: string
}
