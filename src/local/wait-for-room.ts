import { setTimeout as sleep } from 'node:timers/promises'
import { ApiError } from '../client/client.ts'
import { hasCode } from '../node/fail.ts'

const AGAIN_MS = 1_000

/** Does a step of the start once the disk has room for it. */
export type WithRoom = <T>(step: () => T | Promise<T>) => Promise<T>

/**
 * Steps of a start that are repeated each second while a full disk refuses them (PLC-3): a plane that serves reads must not end for that.
 * `onWait` is called before the first repetition. Any other error is thrown, and so is that of a full disk once `isStopping`.
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
