import { useLive } from '../hooks/live.ts'
import { paths } from '../hooks/paths.ts'
import { useApi } from '../hooks/session.ts'
import { perHour } from '../parts/format.ts'
import { A } from '../parts/link.tsx'

const EVERY_MS = 30_000

/** Current spend of the account, shown on every page. */
export function SpendBar() {
  const { may } = useApi()
  const isEnabled = may('billing:read')
  const { data } = useLive(['spend-rate'], (api, signal) => api.getBillingSummary({}, { signal }), { everyMs: EVERY_MS, isEnabled })
  if (data === undefined) return null
  return (
    <A
      to={paths.usage()}
      className="hover:bg-raised rounded-md px-2 py-1 whitespace-nowrap tabular-nums"
      aria-label={`Current cost: ${perHour(data.rate.perHour)}`}
    >
      {perHour(data.rate.perHour)}
    </A>
  )
}
