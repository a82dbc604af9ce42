import { once } from 'node:events'

const KEEP_ALIVE_MS = 60_000

/** `builtin/idle`: runs until SIGTERM and speaks to nobody; the smallest pod there is. */
export async function runIdle(): Promise<void> {
  const ended = Promise.race([once(process, 'SIGTERM'), once(process, 'SIGINT')])
  // Whoever reads this line may send a signal, so it is heard by then.
  console.log('idle: running until SIGTERM')
  // A pending signal listener alone does not keep the process alive.
  const timer = setInterval(() => {}, KEEP_ALIVE_MS)
  await ended
  clearInterval(timer)
  console.log('idle: stopped')
  process.exit(0)
}
