/** A step of a start takes seconds; one without a sign of life for this long will not end by itself, milliseconds. */
const STEP_LIMIT_MS = 30_000
/** Of a step during which the plane answers: many hosts that link again on a busy machine may come before the launcher's calls. */
const SERVING_LIMIT_MS = 300_000

/** Follows the steps of a start, of which each has to end in time. */
export interface StartDeadline {
  /** The step before has ended, and this one begins. `isServing` says whether the plane answers meanwhile. */
  step(name: string, isServing?: () => Promise<boolean>): void
  /** Everything has started. */
  done(): void
}

/**
 * Calls `onLate` with the step that took more than 30 s, or 5 min on a plane that answers (PLC-1), so that a supervisor sees a failed start
 * in place of a process that hangs. The control plane's own start has its limits in `startPlane`: a migration may take longer.
 */
export function startDeadline(
  onLate: (reason: string) => void,
  { limitMs = STEP_LIMIT_MS, servingLimitMs = SERVING_LIMIT_MS } = {},
): StartDeadline {
  let timer: NodeJS.Timeout | undefined
  let steps = 0
  const check = async (step: number, startedAt: number, name: string, isServing: () => Promise<boolean>) => {
    const tookMs = performance.now() - startedAt
    const goesOn = tookMs < servingLimitMs && (await isServing())
    // The step may have ended during the question.
    if (step !== steps) return
    if (goesOn) timer = setTimeout(() => void check(step, startedAt, name, isServing), limitMs)
    else onLate(`${name} took more than ${Math.floor(tookMs / 1000)} s`)
  }
  const stop = () => {
    steps += 1
    clearTimeout(timer)
  }
  return {
    step(name, isServing = async () => false) {
      stop()
      const step = steps
      const startedAt = performance.now()
      timer = setTimeout(() => void check(step, startedAt, name, isServing), limitMs)
    },
    done: stop,
  }
}
