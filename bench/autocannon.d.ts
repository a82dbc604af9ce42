// The part of autocannon that the bench uses; the package has no types.
declare module 'autocannon' {
  export interface Options {
    url: string
    method: 'GET' | 'POST'
    headers: Record<string, string>
    body?: string
    connections: number
    duration: number
  }
  export interface Result {
    requests: { total: number }
    duration: number
    errors: number
    timeouts: number
    non2xx: number
  }
  export default function autocannon(options: Options): Promise<Result>
}
