/** A step of a start takes seconds. A step without progress for this long will not end by itself, milliseconds. */
const STEP_LIMIT_MS = 30_000
/** Limit of a step while the plane answers, milliseconds: on a busy machine, many hosts that link again may delay the launcher's calls. */
const SERVING_LIMIT_MS = 300_000

/** Enforces a time limit on each step of a start. */
export interface StartDeadline {
  /** Ends the previous step and begins this one. `isServing` checks whether the plane answers meanwhile. */
  step(name: string, isServing?: () => Promise<boolean>): void
  /** Ends the last step: everything has started. */
  done(): void
}

/**
 * Calls `onLate` with the step that took more than 30 s, or more than 5 min while the plane answers (PLANE-10), so that a supervisor sees a
 * failed start instead of a hanging process. The start of the control plane itself is limited in `startPlane`, because a migration may take
 * longer.
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
    // The step may have ended during the check.
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
