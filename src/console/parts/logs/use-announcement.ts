import { useEffect, useRef, useState } from 'react'
import { count } from '../format.ts'
import type { LogState } from './reading/follower.ts'

/**
 * A log may grow faster than a screen reader can read it, so only the number of new lines is announced, at this interval in milliseconds.
 */
const ANNOUNCE_EVERY_MS = 10_000

/** Text that a screen reader announces while the log is followed. */
export function useAnnouncement({ came }: LogState): string {
  const now = useRef(came)
  now.current = came
  const [text, setText] = useState('')
  useEffect(() => {
    let announced = now.current
    const timer = setInterval(() => {
      if (now.current > announced) setText(count(now.current - announced, 'new line'))
      announced = now.current
    }, ANNOUNCE_EVERY_MS)
    return () => clearInterval(timer)
  }, [])
  return text
}
