// What is said on a stream to a command in a pod: binary messages, the first byte of which names a channel (v5.channel.k8s.io, NET-6).

export const CHANNELS = { stdin: 0, stdout: 1, stderr: 2, status: 3, resize: 4, credit: 5, signal: 6, close: 255 } as const
/** Bytes that each end takes before it has said anything. */
export const WINDOW_BYTES = 256 * 1024
/** Most bytes that one message carries. */
export const MESSAGE_BYTES = 32 * 1024

/** How a command ended; no exit code: it was broken off, or never began. */
export interface ExitStatus {
  exitCode: number | null
  message?: string
  /** The pod takes no commands, now or later. */
  isRefused?: true
}

export function message(channel: keyof typeof CHANNELS, body: Uint8Array | string = ''): Uint8Array<ArrayBuffer> {
  const bytes = Buffer.from(body)
  return new Uint8Array(Buffer.concat([Buffer.from([CHANNELS[channel]]), bytes]))
}

export function creditMessage(bytes: number): Uint8Array<ArrayBuffer> {
  const body = Buffer.alloc(4)
  body.writeUInt32BE(bytes)
  return message('credit', body)
}

export function resizeMessage(rows: number, cols: number): Uint8Array<ArrayBuffer> {
  return message('resize', JSON.stringify({ Width: cols, Height: rows }))
}

/** The status that a message of its channel says. */
export function readStatus(body: Uint8Array): ExitStatus {
  try {
    const said = JSON.parse(Buffer.from(body).toString('utf8')) as { exitCode?: unknown; message?: unknown; reason?: unknown }
    return {
      exitCode: typeof said.exitCode === 'number' ? said.exitCode : null,
      ...(typeof said.message === 'string' && { message: said.message }),
      ...(said.reason === 'NotSupported' && { isRefused: true }),
    }
  } catch {
    return { exitCode: null, message: 'the pod has said how it ended in words that are unknown here' }
  }
}
