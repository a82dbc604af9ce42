import { hasPackage, loadPackage } from '../packages.ts'
import { CONNECTIONS, type LoadResult, type Target } from './target.ts'

interface Options extends Target {
  connections: number
  duration: number
}
interface Result {
  requests: { total: number }
  duration: number
  errors: number
  timeouts: number
  non2xx: number
}

/** The load generator in JavaScript. One request takes about 40 us of its processor time. */
export async function runAutocannon(target: Target, seconds: number): Promise<LoadResult> {
  if (!hasPackage('autocannon')) throw new Error('the load needs wrk on the path, or npm install --no-save autocannon@9.0.0')
  const { default: autocannon } = await loadPackage<{ default(options: Options): Promise<Result> }>('autocannon')
  const result = await autocannon({ ...target, connections: CONNECTIONS, duration: seconds })
  const failures = result.errors + result.timeouts + result.non2xx
  return { perSecond: result.requests.total / result.duration, requests: result.requests.total, failures }
}
