import { useEffect, useRef } from 'react'
import { useAct } from '../../hooks/act.ts'
import type { LogFollower } from './reading/follower.ts'

/** Loads pages before and after the shown lines, one at a time, while the view is mounted. */
export function usePages(follower: LogFollower) {
  const { isBusy, run } = useAct()
  const open = useRef(new AbortController())
  useEffect(() => {
    const controller = new AbortController()
    open.current = controller
    return () => controller.abort(follower)
  }, [follower])
  const signal = () => open.current.signal
  const busy = useRef(false)
  // The view was unmounted, so the aborted request is no error.
  const unlessGone = <Answer>(what: Promise<Answer>) =>
    what.catch((error: unknown) => {
      if (!signal().aborted) throw error
    })
  const read = (what: () => Promise<void>) => {
    if (busy.current) return
    busy.current = true
    void run(() => unlessGone(what()), null).finally(() => {
      busy.current = false
    })
  }
  return {
    isBusy,
    signal,
    unlessGone,
    older: () => follower.snapshot().older !== null && read(() => follower.readOlder(signal())),
    newer: () => follower.snapshot().status === 'paused' && follower.snapshot().newer !== null && read(() => follower.readNewer(signal())),
  }
}
