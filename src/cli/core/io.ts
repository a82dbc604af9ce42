/** A stream that text goes to. */
export interface Sink {
  write(text: string | Uint8Array): boolean
  isTTY?: boolean | undefined
  columns?: number | undefined
  rows?: number | undefined
}

/** The world of one run: the process itself, or what a test puts in its place. */
export interface Io {
  env: Readonly<Record<string, string | undefined>>
  cwd: string
  home: string
  stdin: NodeJS.ReadableStream & { isTTY?: boolean | undefined }
  stdout: Sink
  stderr: Sink
  nowMs(): number
}

/** Flags that every command takes. */
export interface Globals {
  context?: string
  url?: string
  /** True, or the members that are wanted, with commas between them. */
  json?: true | string
  quiet?: boolean
  /** False for `--no-input`. */
  input?: boolean
  timeout?: number
  debug?: boolean
  /** `curl`: the call is printed in place of being sent. */
  print?: string
}
