import { Socket } from 'node:net'

/**
 * A program between the runtime and its launcher: it always reads the runtime's output, and passes it on as fast as the launcher reads
 * (PLANE-11). Lines that exceed its buffer are dropped and counted. It ends with the runtime, not by a signal.
 */

/** Some ten thousand lines: the log of a busy plane for half a minute. */
const MAX_BUFFERED_BYTES = 8 * 2 ** 20
const NEWLINE = 10

let isDropping = false
let dropped = 0

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
// `process.stdout` would block if it is a pipe.
const launcher = new Socket({ fd: 1, readable: false, writable: true })
// The launcher has ended; the runtime goes on.
launcher.on('error', () => {})
process.stdin.on('data', pass)

function pass(chunk: Buffer): void {
  const end = chunk.indexOf(NEWLINE) + 1
  write(end === 0 ? chunk : chunk.subarray(0, end))
  if (end === 0) return
  // The state changes only between two lines, so that each line is passed on whole or not at all.
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
