// Messages on the stream of a command in a pod: binary, with a channel in the first byte (v5.channel.k8s.io, NET-6).

export const CHANNELS = { stdin: 0, stdout: 1, stderr: 2, status: 3, resize: 4, credit: 5, signal: 6, close: 255 } as const
/** Bytes that each end accepts before it has sent a credit message. */
export const WINDOW_BYTES = 256 * 1024
/** Maximum bytes of one message. */
export const MESSAGE_BYTES = 32 * 1024

/** End of a command; `exitCode` null: it was broken off or never started. */
export interface ExitStatus {
  exitCode: number | null
  message?: string
  /** Whether the pod never accepts commands. */
  isRefused?: true
}

/** Returns a message: the byte of its channel, then the body. */
export function message(channel: keyof typeof CHANNELS, body: Uint8Array | string = ''): Uint8Array<ArrayBuffer> {
  const bytes = Buffer.from(body)
  return new Uint8Array(Buffer.concat([Buffer.from([CHANNELS[channel]]), bytes]))
}

/** Returns a message that grants the other end credit for this number of bytes. */
export function creditMessage(bytes: number): Uint8Array<ArrayBuffer> {
  const body = Buffer.alloc(4)
  body.writeUInt32BE(bytes)
  return message('credit', body)
}

/** Returns a message with the new size of the terminal, in rows and columns of characters. */
export function resizeMessage(rows: number, cols: number): Uint8Array<ArrayBuffer> {
  return message('resize', JSON.stringify({ Width: cols, Height: rows }))
}

/** Parses a message of the status channel. */
export function readStatus(body: Uint8Array): ExitStatus {
  try {
    const said = JSON.parse(Buffer.from(body).toString('utf8')) as { exitCode?: unknown; message?: unknown; reason?: unknown }
    return {
      exitCode: typeof said.exitCode === 'number' ? said.exitCode : null,
      ...(typeof said.message === 'string' && { message: said.message }),
      ...(said.reason === 'NotSupported' && { isRefused: true }),
    }
  } catch {
    return { exitCode: null, message: 'the pod reported the end of the command in an unknown format' }
  }
}
