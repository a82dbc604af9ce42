import { useEffect, useState } from 'react'

/** Pause after the last keystroke, milliseconds; longer than the pause between two keystrokes. */
const PAUSE_MS = 350

/** Returns the value once it has not changed for `PAUSE_MS`, so that typing does not send one request per key. */
export function useSettled(value: string): string {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [value])
  return settled
}
