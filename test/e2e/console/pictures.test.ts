import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { router } from '../../../src/console/app/router.tsx'
import { PROJECT_ROOT } from '../../../src/local/paths.ts'
import { waitUntil } from '../../support/time.ts'
import { startPlane, type TestPlane } from '../support/plane/plane.ts'
import { openBrowser, Visitor } from './support/browser.ts'
import { LABELS_FILE, type Pictured, sourceTextsOf, writeLabels } from './support/labels.ts'
import { pictureOf } from './support/pictures.ts'
import { makeScene, SCENE_GPUS, type Scene } from './support/scene.ts'

// `npm run pictures`: every page of the console as docs/console.md shows it. It is not part of a test run.

const INTO = join(PROJECT_ROOT, process.env.CONSOLE_PICTURES ?? 'docs/images/console')
/** Text stays sharp in the first format; a page with much text uses one of the next. */
const REQUESTS = [
  { quality: 62, scale: 1 },
  { quality: 40, scale: 1 },
  { quality: 62, scale: 0.75 },
  { quality: 40, scale: 0.6 },
]
const MOST_BYTES = 40_000
/** Folder for lossless pictures, for close inspection. */
const PNG = process.env.CONSOLE_PNG
const WIDE = { width: 1280, height: 800 }
const PHONE = { width: 390, height: 844 }
/** Pages whose picture on a phone is shown too. */
const ON_PHONES = ['home', 'pods-one', 'endpoint-waits', 'usage']
const PATIENCE_MS = 20_000

let plane: TestPlane
let browser: Browser
let visitor: Visitor
let scene: Scene
const pictured: Pictured[] = []

beforeAll(async () => {
  rmSync(INTO, { recursive: true, force: true })
  mkdirSync(INTO, { recursive: true })
  ;[plane, browser] = await Promise.all([startPlane({ args: ['--simulate-gpus', SCENE_GPUS] }), openBrowser()])
  visitor = await Visitor.open(browser, plane)
  await visitor.go('/console')
  await visitor.heading('Sign in to podplane')
  await keep(visitor.page, 'sign-in', '/console/sign-in')
  await visitor.signInByLink(plane)
  await visitor.page.getByText('Run a job').first().waitFor()
  await keep(visitor.page, 'home-first', '/console')
  scene = await makeScene(plane)
})
afterAll(async () => {
  await browser?.close()
  await plane?.stop()
})

test('every page, wide and on a phone, in light and in dark', async () => {
  const { page } = visitor
  const large: string[] = []
  for (const [index, { name, route, path }] of pagesOf(scene).entries()) {
    for (const shape of ['wide', 'phone'] as const) {
      await page.setViewportSize(shape === 'wide' ? WIDE : PHONE)
      // Each page in light on one screen and in dark on the other, so that all are covered in both.
      await page.emulateMedia({ colorScheme: (index % 2 === 0) === (shape === 'wide') ? 'light' : 'dark', reducedMotion: 'reduce' })
      await visitor.go(path)
      await page.locator('h1').waitFor()
      await waitUntil(`${path} has read what it shows`, async () => (await page.getByText('Loading').count()) === 0, PATIENCE_MS)
      await page.waitForLoadState('networkidle', { timeout: 1_500 }).catch(() => undefined)
      const isShown = shape === 'wide' || ON_PHONES.includes(name)
      const bytes = await keep(page, shape === 'wide' ? name : `phone-${name}`, route, isShown)
      if (bytes > MOST_BYTES) large.push(`${name}, ${shape}: ${bytes} bytes`)
    }
  }
  writeFileSync(join(INTO, LABELS_FILE), writeLabels(pictured.toSorted((a, b) => (a.name < b.name ? -1 : 1))))
  expect(large).toEqual([])
  expect(visitor.complaints).toEqual([])
}, 600_000)

/** Compresses the picture as far as pictures of text allow: a tenth of the size of the browser's lossless one. */
async function keep(page: Page, name: string, route: string, isShown = true): Promise<number> {
  const session = await page.context().newCDPSession(page)
  let bytes = Buffer.alloc(MOST_BYTES + 1)
  const at = { x: 0, y: 0, ...(page.viewportSize() ?? WIDE) }
  for (const { quality, scale } of REQUESTS) {
    if (bytes.length <= MOST_BYTES) break
    bytes = Buffer.from((await session.send('Page.captureScreenshot', { format: 'webp', quality, clip: { ...at, scale } })).data, 'base64')
  }
  await session.detach()
  if (isShown) {
    writeFileSync(join(INTO, `${name}.webp`), bytes)
    pictured.push({ name, route, labels: await labelsOf(page, route) })
  }
  if (PNG !== undefined) await page.screenshot({ path: join(PNG, `${name}.png`) })
  return bytes.length
}

/** Labels in the visible part of a page. The menu is the same on all pages, so only Home includes it. */
async function labelsOf(page: Page, route: string): Promise<string[]> {
  const shown = await page.evaluate(
    (root) => {
      const isInPicture = ({ top, bottom, width, height }: DOMRect) => bottom > 0 && top < innerHeight && width > 1 && height > 1
      const walker = document.createTreeWalker(document.querySelector(root) ?? document.body, NodeFilter.SHOW_TEXT)
      const texts: string[] = []
      while (walker.nextNode()) {
        const node = walker.currentNode
        const range = document.createRange()
        range.selectNodeContents(node)
        const parent = node.parentElement
        // The element of a text for screen readers has the size of one pixel, but its text has not.
        const isVisible = parent?.checkVisibility() === true && [parent, range].every((of) => isInPicture(of.getBoundingClientRect()))
        if (isVisible) texts.push((node.textContent ?? '').replaceAll(/\s+/g, ' ').trim())
      }
      return texts
    },
    route === '/console' ? 'body' : 'main',
  )
  const texts = sourceTextsOf(route)
  return [...new Set(shown)].filter((text) => texts.has(text)).toSorted()
}

interface ShownPage {
  name: string
  route: string
  path: string
}

/** Every page of the router and the tabs of the large ones. */
function pagesOf(at: Scene): ShownPage[] {
  const ids: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    '/console/pods/$id': { id: at.pod },
    '/console/clusters/$id': { id: at.cluster },
    '/console/endpoints/$id': { id: at.endpoint },
    '/console/endpoints/$id/jobs/$jobId': { id: at.endpoint, jobId: at.job },
    '/console/endpoints/$id/workers/$workerId': { id: at.endpoint, workerId: at.worker },
    '/console/templates/$id': { id: at.template },
    '/console/operator/hosts/$id': { id: at.host },
    '/console/operator/accounts/$id': { id: at.account },
  }
  const pathOf = (route: string) => route.replaceAll(/\$(\w+)/g, (_, id: string) => ids[route]?.[id] ?? 'missing')
  const tabsOf = (route: string, tabs: readonly string[]) =>
    tabs.map((tab) => ({ name: `${pictureOf(route)}-${tab}`, route, path: `${pathOf(route)}?tab=${tab}` }))
  const routes = Object.keys(router.routesByPath).filter((path) => path !== '/' && path !== '/console/sign-in')
  return [
    ...routes.map((route) => ({ name: pictureOf(route), route, path: pathOf(route) })),
    { name: 'endpoint-waits', route: '/console/endpoints/$id', path: `/console/endpoints/${at.waiting}` },
    ...tabsOf('/console/pods/$id', ['connect', 'logs', 'terminal', 'metrics', 'settings']),
    ...tabsOf('/console/endpoints/$id', ['jobs', 'workers', 'logs', 'try', 'history', 'releases', 'scaling', 'settings']),
    { name: 'logs-of-pod', route: '/console/logs', path: `/console/logs?of=pod%2F${at.pod}` },
  ]
}
