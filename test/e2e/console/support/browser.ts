import { mkdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page, type Request } from 'playwright-core'
import { expect } from 'vitest'
import { PROJECT_ROOT } from '../../../../src/local/paths.ts'
import { realTime } from '../../../support/time.ts'
import type { TestPlane } from '../../support/plane/plane.ts'
import { undocumented } from './documented.ts'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']
/** Only violations are reported, by their HTML: a list of all passes, with a selector for each, takes as long as the check itself. */
const AXE_OPTIONS = { runOnly: RULES, resultTypes: ['violations'], selectors: false }
const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium'
/** Timeout for a busy machine; usually elements appear much sooner. */
const PATIENCE_MS = 60_000
const SOON_MS = 3_000
const MOST_SHOWN = 400
/** All text that a script of the page, or a person at the screen, can read. */
const EVERYTHING =
  'JSON.stringify([location.href, { ...localStorage }, { ...sessionStorage }, document.cookie, document.documentElement.outerHTML])'
/** Folder for pictures of the pages, when they are wanted. */
const PICTURES = process.env.CONSOLE_PICTURES

interface AxeResult {
  violations: { id: string; help: string; nodes: { html: string; failureSummary: string }[] }[]
}

/** The link that a plane prints at its start. */
export function printedLink(plane: Pick<TestPlane, 'output'>): string {
  return plane.output().match(/http\S+#link=\S+/)?.[0] ?? ''
}

/** A browser for the tests of one file. Chromium as root, on its own, has no sandbox. */
export async function openBrowser(): Promise<Browser> {
  return await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-dev-shm-usage'] })
}

/** A visitor of a plane's console: a page of its own context that records every error in it. */
export class Visitor {
  readonly page: Page
  readonly context: BrowserContext
  /** Errors on the console, and violations of the policy. */
  readonly complaints: string[] = []
  /** Every request that it has sent to the plane, `METHOD path`. */
  readonly requests: string[] = []
  private readonly url: string
  private readonly addresses: string[] = []
  /** Requests to any server that are not answered yet. */
  private readonly waiting = new Set<Request>()
  /** Addresses of requests that were aborted with the page that had sent them. */
  private readonly aborted = new Set<string>()
  /** Texts that the page received and must not show afterwards. */
  private readonly secrets: string[] = []

  private constructor(context: BrowserContext, page: Page, url: string) {
    this.context = context
    this.page = page
    this.url = url
    page.on('console', (message) => message.type() === 'error' && this.note(message.text()))
    page.on('pageerror', (error) => this.isCutOff(error) || this.complaints.push(String(error)))
    page.on('requestfinished', (request) => this.waiting.delete(request))
    page.on('requestfailed', (request) => {
      this.waiting.delete(request)
      if (request.failure()?.errorText === 'net::ERR_ABORTED') this.aborted.add(request.url())
    })
    page.on('request', (request) => {
      this.waiting.add(request)
      const { origin, pathname } = new URL(request.url())
      // Pages of an identity provider are not checked.
      if (origin !== url) return
      this.requests.push(`${request.method()} ${pathname}`)
      this.addresses.push(request.url())
    })
  }

  // The browser's own log lines are no fault of the page: about an answer that is no success, such as a refused dry run, and about an
  // update check of the service worker that a busy machine did not finish.
  private note(text: string): void {
    const isBrowsers = text.startsWith('Failed to load resource') || text === 'An unknown error occurred when fetching the script.'
    if (!isBrowsers) this.complaints.push(text)
  }

  // A part of the console that was still loading when its visitor went to another page is not needed.
  private isCutOff(error: Error): boolean {
    const part = /Failed to fetch dynamically imported module: (\S+)/.exec(error.message)?.[1]
    return part !== undefined && this.aborted.has(part)
  }

  static async open(browser: Browser, plane: Pick<TestPlane, 'url'>, options: BrowserContextOptions = {}): Promise<Visitor> {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options })
    context.setDefaultTimeout(PATIENCE_MS)
    return new Visitor(context, await context.newPage(), plane.url)
  }

  /** Opens one of the console's addresses. */
  async go(path: string): Promise<void> {
    await this.page.goto(this.url + path)
  }

  /** Signs in with a key, as a person does who has pasted it. */
  async signIn(key: string, path = '/console'): Promise<void> {
    this.secrets.push(key)
    try {
      await this.go(path)
      await this.page.getByLabel('API key').fill(key)
      await this.page.getByRole('button', { name: 'Sign in', exact: true }).click()
      await this.page.getByRole('navigation', { name: 'Main', includeHidden: true }).waitFor({ state: 'attached' })
    } catch (error) {
      const waiting = Array.from(this.waiting, (request) => `${request.method()} ${new URL(request.url()).pathname}`)
      throw new Error(
        `${String(error)}\nnot answered: ${waiting.join(', ') || 'nothing'}; complaints: ${this.complaints.join('; ') || 'none'}; shown: ${await this.shown()}`,
      )
    }
  }

  /** Signs in by the link that a plane prints, as a person does after reading the account on the page. */
  async signInByLink(plane: Pick<TestPlane, 'output'>): Promise<void> {
    await this.page.goto(printedLink(plane))
    await this.page.getByRole('button', { name: /^Sign in as / }).click()
    await this.page.getByRole('navigation', { name: 'Main' }).waitFor()
  }

  /** The text of the page, for the error of a failed test. */
  private async shown(): Promise<string> {
    const text = this.page.evaluate("location.pathname + ' ' + document.readyState + ' ' + document.body?.innerText").then(String, String)
    const silent = realTime(SOON_MS, 'a page whose scripts do not run says nothing').then(() => 'nothing: its scripts do not run')
    return (await Promise.race([text, silent])).slice(0, MOST_SHOWN)
  }

  /** Waits until a page with this heading is shown. */
  async heading(name: string | RegExp): Promise<void> {
    await this.page.getByRole('heading', { level: 1, name }).waitFor()
  }

  /** Expects the page to be accessible: axe finds nothing (UI-61). */
  async expectAccessible(what: string): Promise<void> {
    // The policy of the page allows only its own scripts; the tool is injected beside it, once for each loaded page.
    if (!(await this.page.evaluate('"axe" in window'))) await this.page.evaluate(AXE)
    const found = (await this.page.evaluate(`axe.run(document, ${JSON.stringify(AXE_OPTIONS)})`)) as AxeResult
    const lines = found.violations.flatMap(({ id, help, nodes }) => nodes.map(({ html }) => `${id}: ${help}: ${html}`))
    expect(lines, `${what}: ${lines.join('; ')}`).toEqual([])
  }

  /** Saves a picture of the page when pictures are wanted. */
  async picture(name: string): Promise<void> {
    if (PICTURES === undefined) return
    mkdirSync(join(PROJECT_ROOT, PICTURES), { recursive: true })
    await this.page.screenshot({ path: join(PROJECT_ROOT, PICTURES, `${name}.png`), fullPage: false })
  }

  /** Closes the page. All its requests are in the published documents (UI-70), and no key or session is left in it (UI-66). */
  async close(): Promise<void> {
    const secrets = [...this.secrets, ...(await this.context.cookies()).map(({ value }) => value)]
    const left = String(await this.page.evaluate(EVERYTHING)) + this.addresses.join()
    expect(secrets.filter((secret) => left.includes(secret))).toEqual([])
    await this.context.close()
    expect(undocumented(this.requests)).toEqual([])
  }
}
