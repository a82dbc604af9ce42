// The only place where tests wait for time. Whoever waits for something asks for it again and again; the test's own limit bounds it.

/** How often something is asked for again. */
const ASK_AGAIN_MS = 5

/** For the runner's own ways of asking again, which give up after one second: on a busy machine that is over before anything has begun. */
export const SOON = { timeout: 20_000 } as const

/** Waits until something that nobody is told of has happened. */
export async function until(happened: () => boolean | Promise<boolean>, askAgainMs = ASK_AGAIN_MS): Promise<void> {
  while (!(await happened())) await pass(askAgainMs)
}

/** Waits until `probe` gives something, and returns it. */
export async function eventually<T>(probe: () => T | null | Promise<T | null>): Promise<T> {
  for (;;) {
    const found = await probe()
    if (found !== null) return found
    await pass(ASK_AGAIN_MS)
  }
}

type Maybe<T> = T | undefined | false | null

/** Waits until `probe` gives something truthy; the error names what was waited for. */
export async function waitUntil<T>(
  what: string,
  probe: () => Maybe<T> | Promise<Maybe<T>>,
  timeoutMs = 60_000,
  askAgainMs = ASK_AGAIN_MS,
): Promise<T> {
  const deadline = performance.now() + timeoutMs
  for (;;) {
    const value = await probe()
    if (value) return value
    if (performance.now() > deadline) throw new Error(`timed out after ${timeoutMs} ms: ${what}`)
    await pass(askAgainMs)
  }
}

/** Lets real time pass. For tests whose claim is about that very time, and no clock can be set: `why` says what it is. */
export function realTime(ms: number, why: string): Promise<void> {
  if (why === '') throw new Error('say why real time has to pass')
  return pass(ms)
}

/**
 * How long this thread computes for something, milliseconds. For work that must not grow out of hand: a busy machine makes it last longer by
 * the wall, and costs it no more of the processor.
 */
export function computesForMs(run: () => unknown): number {
  const before = process.threadCpuUsage()
  run()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1_000
}

function pass(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
