import { useEffect, useState } from 'react'

/** Pause after the last keystroke, milliseconds; longer than the pause between two keystrokes. */
const PAUSE_MS = 350

/** Returns the value once it has not changed for `PAUSE_MS`, so that typing does not send one request per key. */
export function useDebounced(value: string): string {
  const [debounced, setDebounced] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setDebounced(value), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [value])
  return debounced
}
