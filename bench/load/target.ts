/** One request, sent repeatedly. */
export interface Target {
  url: string
  method: 'GET' | 'POST'
  headers?: Record<string, string>
  body?: string
}

export interface LoadResult {
  perSecond: number
  requests: number
  failures: number
}

/** Concurrent requests. */
export const CONNECTIONS = 32
