import type { Browser, Page, Request } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createApiClient } from '../../../src/client/client.ts'
import { waitUntil } from '../../support/time.ts'
import { hostIsOnline, startPlane, type TestPlane } from '../support/plane/plane.ts'
import { openBrowser, Visitor } from './support/browser.ts'
import { addressesOf, isRead, lead, PATIENCE_MS, ROUTES } from './support/walk.ts'

// Every page of the router in its four states (loading, empty, error, stale), in one tab each, by the navigation of the console itself.

/** Longer than all attempts of one request together. */
const ALL_TRIES_MS = 5_000
const IDLE_MS = 30_000
/** No refresh is repeated sooner. */
const STEP_MS = 5_000
const MOST_ASKED = 20
const CALLS = /\/(v2|admin\/v1)\//
/** Pages whose address contains no id. */
const NAMELESS = ROUTES.filter((path) => !path.includes('$'))
const NAMING = ROUTES.filter((path) => path.includes('$'))
/** Pages that read nothing before a user acts. */
const READ_NOTHING = ['/console/device', '/console/operator/add-machine', '/console/templates/new']
/** The job API answers without the id of its request (API-12). */
const OF_JOBS = ['/console/endpoints/$id/jobs/$jobId']
/** The text of each page for a fresh account without any data. A list that is missing here is found by its empty table. */
const EMPTY: Readonly<Record<string, string>> = {
  '/console': 'Run a job',
  '/console/pods': 'No pods yet',
  '/console/clusters': 'No clusters yet',
  '/console/endpoints': 'No endpoints yet',
  '/console/jobs': 'No endpoint takes jobs yet',
  '/console/logs': 'No logs yet',
  '/console/usage': 'No resource costs money',
  '/console/volumes': 'No network volumes yet',
  '/console/templates': 'No templates yet',
  '/console/registries': 'No credentials yet',
  '/console/secrets': 'No secrets yet',
  '/console/ssh-keys': 'No keys yet',
  '/console/team': 'You are not a member of an organization',
  '/console/webhooks': 'No deliveries yet',
  '/console/operator/waiting': 'No endpoint waits for capacity',
}

/** One component draws loading, errors and stale data for all pages; a few pages show whether it is accessible. */
const isSample = (path: string) => ['/console', '/console/pods/new', '/console/operator/plane'].includes(path)

/** Visits every page, also after a failure, so that one run reports all failures. */
async function each(paths: readonly string[], check: (path: string) => Promise<void>): Promise<void> {
  const wrong: string[] = []
  for (const path of paths)
    await check(path).catch((error: unknown) => wrong.push(`${path}: ${error instanceof Error ? error.message : error}`))
  expect(wrong).toEqual([])
}

async function heading(page: Page): Promise<string> {
  return await page.getByRole('heading', { level: 1 }).innerText()
}

describe('[UI-7, UI-70] every page', () => {
  let plane: TestPlane
  let browser: Browser
  /** A visitor who has loaded every page. */
  let reader: Visitor
  /** A visitor whose requests are delayed, and who then has no plane. */
  let waiter: Visitor
  /** The address of every page that has data. */
  let addresses: string[] = []
  const headings = new Map<string, string>()

  beforeAll(async () => {
    ;[plane, browser] = await Promise.all([startPlane({ args: ['--simulate-gpus', 'NVIDIA L4:3'] }), openBrowser()])
    reader = await Visitor.open(browser, plane)
    await reader.signInByLink(plane)
    await hostIsOnline(plane)
  })
  afterAll(async () => {
    await browser?.close()
    await plane?.stop()
  })

  /** Another signed-in visitor, who has loaded no page yet. */
  const another = async () => {
    const visitor = await Visitor.open(browser, plane)
    visitor.page.setDefaultTimeout(PATIENCE_MS)
    await visitor.context.addCookies(await reader.context.cookies())
    return visitor
  }

  test('[UI-61] of a fresh account says what does not exist yet, and how to create the first', async () => {
    const api = createApiClient(plane.url, plane.apiKey)
    await api.deleteEndpoint({ path: { id: plane.endpointId } })
    const { page } = reader
    page.setDefaultTimeout(PATIENCE_MS)
    await each(NAMELESS, async (path) => {
      await lead(page, path)
      await isRead(page, path)
      const words = EMPTY[path]
      if (words !== undefined) await page.locator('main').getByText(words).first().waitFor()
      else expect(await page.locator('tbody:not(:has(tr))').count(), `${path} has a list without a line`).toBe(0)
      await reader.expectAccessible(`${path}, empty`)
    })
    expect(reader.complaints).toEqual([])
  })

  test('[UI-61, UI-26] shows its data on a phone and in the dark', async () => {
    if (addresses.length === 0) addresses = await fill(plane)
    const { page } = reader
    await page.setViewportSize({ width: 390, height: 844 })
    await page.emulateMedia({ colorScheme: 'dark' })
    await each(addresses, async (path) => {
      await lead(page, path)
      await isRead(page, path)
      headings.set(path, await heading(page))
      await reader.expectAccessible(`${path} on a phone in the dark`)
      expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), `${path} scrolls sideways`).toBe(0)
      await reader.picture(`phone${path.replaceAll('/', '-')}`)
    })
    expect(reader.complaints).toEqual([])
  })

  test('of an unknown address shows the error of the plane and the id of the request', async () => {
    const { page } = reader
    await page.setViewportSize({ width: 1280, height: 800 })
    await page.emulateMedia({ colorScheme: 'light' })
    await each(NAMING, async (route) => {
      await lead(page, route.replaceAll(/\$\w+/g, 'nothere1234567'))
      const alert = page.getByRole('alert').first()
      await alert.getByRole('button', { name: 'Try again' }).waitFor()
      if (!OF_JOBS.includes(route)) await alert.getByText(/^Request /).waitFor()
      await reader.expectAccessible(`${route}, of nothing`)
    })
    expect(reader.complaints).toEqual([])
  })

  test('shows that it loads while its plane is slow', async () => {
    waiter = await another()
    const { page } = waiter
    // These requests get no answer.
    await page.route(CALLS, () => undefined)
    await waiter.go('/console/device')
    await waiter.heading('Approve a device')
    await each(addresses, async (path) => {
      await lead(page, path)
      if (!READ_NOTHING.includes(path)) await page.getByText('Loading').first().waitFor({ state: 'attached' })
      expect(await page.getByRole('alert').count(), path).toBe(0)
      if (isSample(path)) await waiter.expectAccessible(`${path}, loading`)
    })
    await lead(page, '/console/device')
    await page.unrouteAll({ behavior: 'ignoreErrors' })
    expect(waiter.complaints).toEqual([])
  })

  test('[UI-10] sends at most 20 requests in 30 s, and none while its tab is hidden', async () => {
    // Minutes pass in its tab, so it has a tab of its own.
    const idle = await another()
    const { page } = idle
    await idle.go('/console/device')
    await idle.heading('Approve a device')
    const waiting = new Set<Request>()
    page.on('request', (request) => waiting.add(request))
    page.on('requestfailed', (request) => waiting.delete(request))
    // Further events of an open stream are no further request.
    page.on('response', (response) => waiting.delete(response.request()))
    await page.clock.install()
    /** Requests of half a minute, one line each. Time passes in steps no longer than any interval. */
    const step = async () => {
      await page.clock.runFor(STEP_MS)
      await waitUntil('all is answered', async () => waiting.size === 0, PATIENCE_MS)
    }
    const asked = async () => {
      // The first requests of a page, and those that follow from them, are no part of its idle half minute.
      await step()
      const before = idle.requests.length
      for (let steps = 0; steps < IDLE_MS / STEP_MS; steps += 1) await step()
      return idle.requests.slice(before)
    }
    await each([...addresses.filter((path) => !NAMELESS.includes(path)), '/console', '/console/usage'], async (path) => {
      await lead(page, path)
      await isRead(page, path)
      const requests = await asked()
      expect(requests.length, requests.join(', ')).toBeLessThanOrEqual(MOST_ASKED)
    })
    await hide(page)
    expect(await asked()).toEqual([])
    await idle.close()
  })

  test('says so when its plane is down: data already read stays and is marked stale, missing data is an error with a retry button', async () => {
    await Promise.all([reader, waiter].map(({ page }) => page.clock.install()))
    await plane.kill('SIGINT')
    const reading = addresses.filter((path) => !READ_NOTHING.includes(path))
    await each(reading, async (path) => {
      await lead(waiter.page, path)
      await passed(waiter.page, `${path} is an error`, () => waiter.page.getByRole('button', { name: 'Try again' }).first())
      if (isSample(path)) await waiter.expectAccessible(`${path}, an error`)
      await lead(reader.page, path)
      await passed(reader.page, `${path} is old`, () => reader.page.getByText('Last updated').first())
      expect(await heading(reader.page)).toBe(headings.get(path))
      if (isSample(path)) await reader.expectAccessible(`${path}, old`)
    })
    expect([...waiter.complaints, ...reader.complaints]).toEqual([])
    for (const visitor of [waiter, reader]) await visitor.close()
  })
})

/** Hides a page, as another tab in front of it does. */
async function hide(page: Page): Promise<void> {
  await page.evaluate("Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => 'hidden' })")
  await page.evaluate("document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))")
}

/** Advances the clock of a page through its retries until an element is there. */
async function passed(page: Page, what: string, found: () => ReturnType<Page['locator']>): Promise<void> {
  await waitUntil(
    what,
    async () => {
      await page.clock.fastForward(ALL_TRIES_MS)
      return (await found().count()) > 0
    },
    PATIENCE_MS,
  )
}

/** Creates one of every resource that has a page of its own; returns the address of every page. */
async function fill(plane: TestPlane): Promise<string[]> {
  const api = createApiClient(plane.url, plane.apiKey)
  const operator = createApiClient(plane.url, plane.operatorKey)
  const gpu = { id: 'NVIDIA L4', count: 1 }
  const cpu = [{ id: 'cpu3c', vcpuCount: 2 }]
  const endpoint = await api.createEndpoint({ body: { name: 'probe', image: 'builtin/probe', cpu, disk: 1, workers: { min: 0, max: 1 } } })
  const path = { endpointId: endpoint.id }
  const job = await api.runJobSync({ path, body: { input: { prompt: 'a lighthouse at dusk' } } })
  const { workers } = await api.listEndpointWorkers({ path: { id: endpoint.id } })
  const [pod, template, cluster] = await Promise.all([
    api.createPod({ body: { name: 'laboratory', image: 'builtin/idle', gpu } }),
    api.createTemplate({ body: { name: 'web', image: 'docker.io/library/nginx:1' } }),
    api.createCluster({
      body: { name: 'sft', type: 'TRAINING', image: 'builtin/idle', compute: { gpuTypeId: gpu.id, gpuCountPerPod: 1, podCount: 2 } },
    }),
  ])
  const [{ hosts }, { users }] = await Promise.all([operator.listHosts(), operator.listUsers()])
  return addressesOf({
    pod: pod.id,
    cluster: cluster.id,
    endpoint: endpoint.id,
    job: job.id,
    worker: workers[0]?.id,
    template: template.id,
    host: hosts[0]?.id,
    account: users[0]?.id,
  })
}
