import { expect, ORIGIN, type Reply, send } from '../harness.ts'

/** The headers that identify a page of the plane itself. */
export const PAGE = { 'X-Requested-With': 'podplane', 'Sec-Fetch-Site': 'same-origin' }

/** A browser at a plane, as far as cookies are concerned: it stores received cookies, and sends the origin of its pages. */
export class Browser {
  readonly cookies = new Map<string, string>()
  readonly origin: string

  constructor(origin = ORIGIN) {
    this.origin = origin
  }

  /** A browser that has signed in with a key. */
  static async signedIn(key: string, origin = ORIGIN): Promise<Browser> {
    const browser = new Browser(origin)
    const reply = await browser.page('POST', '/console/session', { key })
    expect(reply.status).toBe(201)
    return browser
  }

  /** The secret of its session. */
  get secret(): string | undefined {
    return this.cookies.get(this.origin.startsWith('https:') ? '__Host-podplane-session' : 'podplane-session')
  }

  /** A request as a page of the console sends it. */
  page(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Reply> {
    const origin = method === 'GET' ? {} : { Origin: this.origin }
    return this.ask(method, path, body, { ...PAGE, ...origin, ...headers })
  }

  /** A request with its cookies and nothing else. */
  async ask(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Reply> {
    const withBody = body === undefined ? {} : { body: JSON.stringify(body) }
    const type = body === undefined ? {} : { 'Content-Type': 'application/json' }
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const given = { ...(cookie === '' ? {} : { Cookie: cookie }), ...type, ...headers }
    const response = await send(this.origin + path, { method, headers: given, ...withBody })
    for (const line of response.headers.getSetCookie()) this.keep(line)
    const text = await response.text()
    const isJson = /json/.test(response.headers.get('content-type') ?? '')
    return { status: response.status, headers: response.headers, body: text === '' ? null : isJson ? JSON.parse(text) : text }
  }

  private keep(line: string): void {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
    if (/Max-Age=0(;|$)/.test(line)) this.cookies.delete(name)
    else this.cookies.set(name, value)
  }
}
