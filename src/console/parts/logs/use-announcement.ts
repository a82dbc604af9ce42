import { useEffect, useRef, useState } from 'react'
import { count } from '../format.ts'
import type { LogState } from './reading/follower.ts'

/** A log may write faster than anybody can listen: what is new is told in sum. */
const TOLD_EVERY_MS = 10_000

/** What is said aloud of a log while it is followed. */
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
