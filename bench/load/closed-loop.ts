import autocannon from 'autocannon'

export interface Target {
  url: string
  method: 'GET' | 'POST'
  headers?: Record<string, string>
  body?: string
}

const CONNECTIONS = 32

/** Requests per second of a target that is asked again as soon as it has answered. Any answer but a success voids the measurement. */
export async function measureRate(target: Target, seconds: number): Promise<number> {
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
  if (failures > 0) throw new Error(`${method} ${url}: ${failures} of ${result.requests.total} requests failed`)
  return result.requests.total / result.duration
}
