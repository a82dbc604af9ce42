import { once } from 'node:events'

const KEEP_ALIVE_MS = 60_000

/** `builtin/idle`: the smallest pod; runs until SIGTERM and opens no connection. */
export async function runIdle(): Promise<void> {
  const ended = Promise.race([once(process, 'SIGTERM'), once(process, 'SIGINT')])
  // A reader of this line may send a signal at once, so the signal handlers are installed before.
  console.log('idle: running until SIGTERM')
  // A pending signal listener alone does not keep the process alive.
  const timer = setInterval(() => {}, KEEP_ALIVE_MS)
  await ended
  clearInterval(timer)
  console.log('idle: stopped')
  process.exit(0)
}
