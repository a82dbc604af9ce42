// The only place where tests wait for time. Waits are polls; the test's own limit bounds them.

/** Poll interval. */
const ASK_AGAIN_MS = 5

/** For the runner's own polls, whose default timeout is one second: on a busy machine that is over before anything has begun. */
export const SOON = { timeout: 20_000 } as const

/** Waits by polling for a condition that sends no notification. */
export async function until(happened: () => boolean | Promise<boolean>, askAgainMs = ASK_AGAIN_MS): Promise<void> {
  while (!(await happened())) await pass(askAgainMs)
}

/** Waits until `probe` returns something, and returns it. */
export async function eventually<T>(probe: () => T | null | Promise<T | null>): Promise<T> {
  for (;;) {
    const found = await probe()
    if (found !== null) return found
    await pass(ASK_AGAIN_MS)
  }
}

/**
 * Waits until `done`, or, if that does not become true, until `value` has not changed for two seconds: for work that goes on after its
 * answer and sends no notification.
 */
export async function untilQuiet(value: () => number, done: () => boolean): Promise<void> {
  let last = value()
  for (let since = performance.now(); !done() && performance.now() - since < 2_000; await pass(ASK_AGAIN_MS))
    if (value() !== last) {
      last = value()
      since = performance.now()
    }
}

type Maybe<T> = T | undefined | false | null

/** Waits until `probe` returns something truthy; the error names what was waited for. */
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

/** Lets real time pass. For tests about that very time, where no clock can be set: `why` states the reason. */
export function realTime(ms: number, why: string): Promise<void> {
  if (why === '') throw new Error('say why real time has to pass')
  return pass(ms)
}

/**
 * Processor time of this thread for a computation, milliseconds. For work that must not grow without bound: on a busy machine it takes
 * longer by wall clock, but no more processor time.
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
