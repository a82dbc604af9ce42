/** Protocol of the WebSocket to a command in a pod (NET-7): binary messages whose first byte is a channel. Pure. */

export const PROTOCOL = 'v5.channel.k8s.io'

const STDIN = 0
const STDOUT = 1
const STDERR = 2
const STATUS = 3
const RESIZE = 4

/** A parsed message: output of the command, its end, or a message that the terminal ignores. */
export type Heard = { kind: 'output'; bytes: Uint8Array } | { kind: 'ended'; message: string } | { kind: 'other' }

/** Subprotocols that the browser offers: the protocol itself and, since a browser cannot set headers, the account to act for (NET-10). */
export function protocolsFor(accountId: string | null): string[] {
  return accountId === null ? [PROTOCOL] : [PROTOCOL, `account.podplane.${accountId}`]
}

/** Returns the message that sends typed text to the command. */
export function typed(text: string): Uint8Array<ArrayBuffer> {
  return framed(STDIN, new TextEncoder().encode(text))
}

/** Returns the message that sets the size of the terminal, in rows and columns of characters. */
export function resized(rows: number, cols: number): Uint8Array<ArrayBuffer> {
  return framed(RESIZE, new TextEncoder().encode(JSON.stringify({ Width: cols, Height: rows })))
}

/** Parses a message from the pod. */
export function heard(message: Uint8Array): Heard {
  const [channel] = message
  const bytes = message.subarray(1)
  if (channel === STDOUT || channel === STDERR) return { kind: 'output', bytes }
  return channel === STATUS ? { kind: 'ended', message: endOf(bytes) } : { kind: 'other' }
}

function endOf(bytes: Uint8Array): string {
  try {
    const { exitCode, message } = JSON.parse(new TextDecoder().decode(bytes)) as { exitCode: number | null; message?: string }
    if (exitCode === null) return message ?? 'The shell was interrupted.'
    return `The shell ended with exit code ${exitCode}.`
  } catch {
    return 'The shell has ended.'
  }
}

function framed(channel: number, body: Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(1 + body.length)
  bytes[0] = channel
  bytes.set(body, 1)
  return bytes
}
