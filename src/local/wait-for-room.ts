import { setTimeout as sleep } from 'node:timers/promises'
import { ApiError } from '../client/client.ts'
import { hasCode } from '../node/fail.ts'

const AGAIN_MS = 1_000

/** Runs a step of the start, and repeats it while the disk is full. */
export type WithRoom = <T>(step: () => T | Promise<T>) => Promise<T>

/**
 * Returns a function that repeats a step each second while a full disk refuses it (PLANE-12), because a plane that serves reads must not
 * end.
 * `onWait` is called before the first repetition. Other errors are thrown, and so is that of a full disk once `isStopping` returns true.
 */
export function roomWaiter(onWait: () => void, isStopping: () => boolean, againMs = AGAIN_MS): WithRoom {
  let hasWaited = false
  return async (step) => {
    for (;;) {
      try {
        return await step()
      } catch (error) {
        if (!isDiskFull(error) || isStopping()) throw error
        if (!hasWaited) onWait()
        hasWaited = true
      }
      await sleep(againMs)
    }
  }
}

function isDiskFull(error: unknown): boolean {
  return (error instanceof ApiError && error.code === 'STORAGE_FULL') || hasCode(error, 'ENOSPC')
}
