import { useEffect, useRef, useState } from 'react'
import { count } from '../format.ts'
import type { LogState } from './reading/follower.ts'

/**
 * A log may grow faster than a screen reader can read it, so only the number of new lines is announced, at this interval in milliseconds.
 */
const TOLD_EVERY_MS = 10_000

/** Text that a screen reader announces while the log is followed. */
export function useAnnouncement({ came }: LogState): string {
  const now = useRef(came)
  now.current = came
  const [words, setWords] = useState('')
  useEffect(() => {
    let told = now.current
    const timer = setInterval(() => {
      if (now.current > told) setWords(count(now.current - told, 'new line'))
      told = now.current
    }, TOLD_EVERY_MS)
    return () => clearInterval(timer)
  }, [])
  return words
}
