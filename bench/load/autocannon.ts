import autocannon from 'autocannon'
import { CONNECTIONS, type LoadResult, type Target } from './target.ts'

/** The load generator among the installed packages. One request takes about 40 us of its processor time. */
export async function runAutocannon(target: Target, seconds: number): Promise<LoadResult> {
  const { url, method, headers = {}, body } = target
  const result = await autocannon({
    url,
    method,
    headers,
    connections: CONNECTIONS,
    duration: seconds,
    ...(body === undefined ? {} : { body }),
  })
  const failures = result.errors + result.timeouts + result.non2xx
  return { perSecond: result.requests.total / result.duration, requests: result.requests.total, failures }
}
