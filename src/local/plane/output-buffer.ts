import { Socket } from 'node:net'

/**
 * A program between the runtime and its launcher: it always reads what the runtime writes, and passes it on as fast as the launcher reads
 * (PLC-2). What does not fit into its buffer is dropped by the line, and counted. It ends with the runtime, not by a signal.
 */

/** Some ten thousand lines: what a busy plane logs in half a minute. */
const MAX_BUFFERED_BYTES = 8 * 2 ** 20
const NEWLINE = 10

let isDropping = false
let dropped = 0

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
// Not `process.stdout`, which blocks where it is a pipe.
const launcher = new Socket({ fd: 1, readable: false, writable: true })
// The launcher is gone: the runtime goes on all the same.
launcher.on('error', () => {})
process.stdin.on('data', pass)

function pass(chunk: Buffer): void {
  const end = chunk.indexOf(NEWLINE) + 1
  write(end === 0 ? chunk : chunk.subarray(0, end))
  if (end === 0) return
  // Between two lines only, so that each is passed on whole or not at all.
  isDropping = launcher.writableLength > MAX_BUFFERED_BYTES
  write(chunk.subarray(end))
}

function write(part: Buffer): void {
  if (isDropping) {
    for (const byte of part) if (byte === NEWLINE) dropped++
    return
  }
  if (dropped > 0) {
    const message = JSON.stringify({ time: new Date().toISOString(), level: 'warn', message: `${dropped} log lines were dropped` })
    launcher.write(`${JSON.stringify({ timestamp: Date.now(), level: 'warn', message })}\n`)
    dropped = 0
  }
  launcher.write(part)
}
