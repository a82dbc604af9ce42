import { useEffect, useState } from 'react'

/** Nobody types a further key within this time. */
const PAUSE_MS = 350

/** A value once it has stood still, so that the plane is not asked with every key. */
export function useSettled(value: string): string {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [value])
  return settled
}
