import { useEffect, useState } from 'react'
import { ago } from './format.ts'

const TICK_MS = 10_000

/** Current time, updated every `everyMs` while the tab is visible. */
export function useNow(everyMs = TICK_MS): number {
  const [nowMs, setNowMs] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => document.hidden || setNowMs(Date.now()), everyMs)
    return () => clearInterval(timer)
  }, [everyMs])
  return nowMs
}

/** Time as an age; the exact time is its tooltip. */
export function Ago({ at }: { at: string | null | undefined }) {
  const nowMs = useNow()
  if (!at) return <span className="text-soft">–</span>
  return (
    <time className="whitespace-nowrap" dateTime={at} title={new Date(at).toLocaleString()}>
      {ago(at, Math.max(nowMs, Date.now()))}
    </time>
  )
}
