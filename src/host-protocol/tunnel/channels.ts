import { z } from 'zod'
import { hostText } from '../host-text.ts'
import { writeCount, writeJson } from './frames.ts'

/**
 * Messages on a stream to a command: binary, the first byte is the channel. The first five channels and the last are those of Kubernetes'
 * `v5.channel.k8s.io`; `credit` and `signal` are used only with `flow`.
 *
 *   stdin, stdout, stderr   bytes
 *   status                  JSON `ExitStatus`, the last message: the result of the command
 *   resize                  JSON `{"Width": columns, "Height": rows}`
 *   credit                  u32: number of additional bytes that the other end may send (initially `FLOW_WINDOW_BYTES`)
 *   signal                  the name of a signal for the command, without SIG
 *   close                   the byte of the channel that ends: stdin
 */
export const CHANNELS = { stdin: 0, stdout: 1, stderr: 2, status: 3, resize: 4, credit: 5, signal: 6, close: 255 } as const

/** Bytes that each end accepts before it has sent any credit. */
export const FLOW_WINDOW_BYTES = 256 * 1024
/** Maximum number of bytes in one message. */
export const MAX_CHANNEL_BYTES = 32 * 1024

export const SIGNALS = ['HUP', 'INT', 'QUIT', 'KILL', 'USR1', 'USR2', 'TERM', 'ABRT', 'ALRM', 'PIPE'] as const
export type Signal = (typeof SIGNALS)[number]

/** Reason of a failure that would be repeated by every retry. */
export const NOT_SUPPORTED = 'NotSupported'

/** Result of a command. `exitCode` is null when it was interrupted or never started. */
export const ExitStatus = z.object({
  status: z.enum(['Success', 'Failure']),
  exitCode: z.number().int().nullable(),
  reason: z.string().max(64).optional(),
  message: hostText(1_000).optional(),
  details: z.object({ causes: z.array(z.object({ reason: z.string(), message: z.string() })) }).optional(),
})
export type ExitStatus = z.infer<typeof ExitStatus>

const Size = z.object({ Width: z.number().int().min(1).max(4_096), Height: z.number().int().min(1).max(4_096) })

/** A message of one channel of `exec`. */
export type ChannelMessage =
  | { channel: 'stdin' | 'stdout' | 'stderr'; bytes: Uint8Array }
  | { channel: 'status'; status: ExitStatus }
  | { channel: 'resize'; rows: number; cols: number }
  | { channel: 'credit'; bytes: number }
  | { channel: 'signal'; signal: Signal }
  | { channel: 'close' }

/** One message of a channel: a byte for the channel, then the body. */
export function encodeChannel(message: ChannelMessage): Uint8Array {
  const body = bodyOf(message)
  const bytes = new Uint8Array(1 + body.length)
  bytes[0] = CHANNELS[message.channel]
  bytes.set(body, 1)
  return bytes
}

/** Returns null for an unknown message, which is ignored: a client may support more than this. */
export function decodeChannel(bytes: Uint8Array): ChannelMessage | null {
  const body = bytes.subarray(1)
  switch (bytes[0]) {
    case CHANNELS.stdin:
      return { channel: 'stdin', bytes: body }
    case CHANNELS.stdout:
      return { channel: 'stdout', bytes: body }
    case CHANNELS.stderr:
      return { channel: 'stderr', bytes: body }
    case CHANNELS.status: {
      const status = ExitStatus.safeParse(json(body))
      return status.success ? { channel: 'status', status: status.data } : null
    }
    case CHANNELS.resize: {
      const size = Size.safeParse(json(body))
      return size.success ? { channel: 'resize', rows: size.data.Height, cols: size.data.Width } : null
    }
    case CHANNELS.credit:
      return body.length === 4 ? { channel: 'credit', bytes: new DataView(body.buffer, body.byteOffset).getUint32(0) } : null
    case CHANNELS.signal: {
      const signal = SIGNALS.find((name) => name === text(body))
      return signal === undefined ? null : { channel: 'signal', signal }
    }
    case CHANNELS.close:
      return body[0] === CHANNELS.stdin ? { channel: 'close' } : null
    default:
      return null
  }
}

/** Returns the status of a command that has exited. */
export function exited(exitCode: number): ExitStatus {
  if (exitCode === 0) return { status: 'Success', exitCode }
  const cause = { reason: 'ExitCode', message: String(exitCode) }
  return {
    status: 'Failure',
    exitCode,
    reason: 'NonZeroExitCode',
    message: `the command ended with exit code ${exitCode}`,
    details: { causes: [cause] },
  }
}

/** Returns the status of a command that could not start or was interrupted. */
export function failure(message: string, reason = 'InternalError'): ExitStatus {
  return { status: 'Failure', exitCode: null, reason, message: message.slice(0, 1_000) }
}

function bodyOf(message: ChannelMessage): Uint8Array {
  switch (message.channel) {
    case 'stdin':
    case 'stdout':
    case 'stderr':
      return message.bytes
    case 'status':
      return writeJson(message.status)
    case 'resize':
      return writeJson({ Width: message.cols, Height: message.rows })
    case 'credit':
      return writeCount(message.bytes)
    case 'signal':
      return new TextEncoder().encode(message.signal)
    case 'close':
      return new Uint8Array([CHANNELS.stdin])
    default:
      return message satisfies never
  }
}

function text(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes)
}

function json(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(text(bytes))
  } catch {
    return null
  }
}
