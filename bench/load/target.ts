/** One request, made again and again. */
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

/** Requests that are under way at any time. */
export const CONNECTIONS = 32
