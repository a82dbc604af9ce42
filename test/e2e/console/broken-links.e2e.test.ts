import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createApiClient } from '../../../src/client/client.ts'
import { paths } from '../../../src/console/hooks/paths.ts'
import { SOON, waitUntil } from '../../support/time.ts'
import { busyboxImage } from '../support/agent/worker-image.ts'
import { docker } from '../support/machines/docker.ts'
import { startCuttingProxy } from '../support/plane/cutting-proxy.ts'
import { killPlane } from '../support/plane/kill-plane.ts'
import { startAgent, startPlane, type TestAgent, type TestPlane } from '../support/plane/plane.ts'
import { podBody, TestPod } from '../support/plane/pods.ts'
import { openBrowser, Visitor } from './support/browser.ts'

const STAY = 'trap "exit 0" TERM; while :; do busybox sleep 1 & wait $!; done'
/** Prints a number each tenth of a second, from 1. */
const COUNT = 'trap "exit 0" TERM; n=0; while :; do n=$((n+1)); echo "number $n"; busybox usleep 100000; done'
const PROBE = { name: 'probe', image: 'builtin/probe', cpu: [{ id: 'cpu3c', vcpuCount: 2 }], disk: 1, workers: { min: 0, max: 1 } }
const PATIENCE_MS = 60_000
/** A stream stays open for a few lines, and is reopened half a second later. */
const CUT_EVERY_MS = 1_500
const CUTS = 40

describe('the console behind connections that break', () => {
  let plane: TestPlane
  let browser: Browser
  let agent: TestAgent
  let pod: TestPod
  let other: TestPod
  beforeAll(async () => {
    ;[plane, browser] = await Promise.all([startPlane({ args: ['--no-agent'] }), openBrowser()])
    // An agent apart from the plane: it stays when the plane restarts.
    agent = await startAgent({ plane, name: 'apart', simulateGpus: 'NVIDIA L4:4' })
    const image = await busyboxImage()
    ;[pod, other] = await Promise.all([
      TestPod.run(plane, podBody(image, STAY, { name: 'lab' })),
      TestPod.run(plane, podBody(image, COUNT, { name: 'counting' })),
    ])
  })
  afterAll(async () => {
    for (const one of [pod, other]) await one?.on(plane).terminate()
    await browser?.close()
    await agent?.stop()
    await plane?.stop()
  })

  test('[UI-57, UI-56] a terminal and a log show their state over a restart of the plane, and text typed meanwhile is sent nowhere', async () => {
    const [visitor, reader] = [await Visitor.open(browser, plane), await Visitor.open(browser, plane)]
    const { page } = visitor
    await reader.signIn(plane.apiKey, `${paths.logs()}?of=pod%2F${other.id}`)
    await reader.page.getByText('Following', { exact: true }).waitFor()
    await visitor.signIn(plane.apiKey, `/console/pods/${pod.id}?tab=terminal`)
    await page.getByText('Connected').waitFor()
    await page.keyboard.type('cd /; echo $((6*7))-before > before; busybox cat before\n')
    await says(page, '42-before')
    await killPlane(plane)
    await page.getByText('The connection to the plane is lost, and the shell with it.').waitFor()
    await reader.page.getByText('The connection was lost; reconnecting').waitFor()
    expect(await reader.page.getByText('Following', { exact: true }).count()).toBe(0)
    await visitor.expectAccessible('a terminal whose plane is gone')
    await page.keyboard.type('echo x > typed-to-nobody\n')
    await page.getByRole('button', { name: 'Connect again' }).click()
    await page.getByText('The shell did not open').waitFor()
    await page.keyboard.type('echo x > typed-to-nobody\n')
    plane = await plane.restart()
    await reader.page.getByText('Following', { exact: true }).waitFor({ timeout: PATIENCE_MS })
    await waitUntil('the terminal is open again', () => connectsAgain(page), PATIENCE_MS, 500)
    // The text that the previous shell wrote is still there.
    await says(page, '42-before')
    await page.keyboard.type('echo $((7*7))-after > after; busybox cat after\n')
    await says(page, '49-after')
    expect(await filesOf(pod)).toEqual(['after', 'before'])
    expect(await filesOf(other)).toEqual([])
    for (const one of [visitor, reader]) {
      expect(one.complaints.filter(isOwnFault)).toEqual([])
      await one.close()
    }
  })

  test('[UI-67] a user who opens the console while its plane is down reads that, and the requested page opens once the plane answers', async () => {
    const visitor = await Visitor.open(browser, plane)
    const { page } = visitor
    await visitor.signIn(plane.apiKey)
    await page.evaluate('navigator.serviceWorker.ready.then(() => true)')
    await killPlane(plane)
    // As in a new tab: nothing of the page is left.
    await page.goto('about:blank')
    await visitor.go('/console/pods?state=RUNNING')
    await visitor.heading('The plane does not answer')
    await visitor.expectAccessible('the console of a plane that is gone')
    await visitor.picture('offline')
    plane = await plane.restart()
    await visitor.heading('Pods')
    await page.getByRole('link', { name: 'counting' }).waitFor()
    expect(new URL(page.url()).search).toContain('RUNNING')
    // The service worker stores nothing, and controls nothing else of this origin.
    expect(await page.evaluate('caches.keys()')).toEqual([])
    const scopes = 'navigator.serviceWorker.getRegistrations().then((all) => all.map(({ scope }) => new URL(scope).pathname))'
    expect(await page.evaluate(scopes)).toEqual(['/console'])
    expect(visitor.complaints.filter(isOwnFault)).toEqual([])
    await visitor.close()
  })

  test('[UI-9] a log and chunks of a job, whose connections are cut all the time, lose and duplicate nothing', async () => {
    const api = createApiClient(plane.url, plane.apiKey)
    const path = { endpointId: (await api.createEndpoint({ body: PROBE })).id }
    const job = await api.runJob({ path, body: { input: { chunks: 900, chunkMs: 100 } } })
    const proxy = await startCuttingProxy(plane.port)
    const [log, all, work] = [await Visitor.open(browser, proxy), await Visitor.open(browser, proxy), await Visitor.open(browser, proxy)]
    await log.signIn(plane.apiKey, `${paths.logs()}?of=pod%2F${other.id}&source=container&since=1h`)
    await all.signIn(plane.apiKey, `${paths.endpoint(path.endpointId)}?tab=logs`)
    await work.signIn(plane.apiKey, `${paths.job(path.endpointId, job.id)}?tab=chunks`)
    await log.page.getByText('Following', { exact: true }).waitFor()
    await all.page.getByText('Following', { exact: true }).waitFor()
    await waitUntil('chunks come', async () => (await chunksOf(work)).length > 5, PATIENCE_MS)
    const before = (await chunksOf(work)).length
    proxy.cutEvery(CUT_EVERY_MS)
    await waitUntil('much was cut', async () => proxy.cuts > CUTS, PATIENCE_MS)
    proxy.cutEvery(null)
    const chunks = await waitUntil(
      'further chunks come',
      async () => {
        const now = await chunksOf(work)
        return now.length > before + 50 && now
      },
      PATIENCE_MS,
    )
    expect(chunks).toEqual(chunks.map((_, index) => index))
    for (const { page } of [log, all]) await page.getByText('Following', { exact: true }).waitFor()
    await expect.poll(() => log.page.getByText('arrived too quickly').count(), SOON).toBe(0)
    const [download] = await Promise.all([
      log.page.waitForEvent('download'),
      log.page.getByRole('button', { name: 'Save as file' }).click(),
    ])
    const numbers = [...(await textOf(download)).matchAll(/ number (\d+)$/gm)].map(([, number]) => Number(number))
    expect(numbers.length).toBeGreaterThan(100)
    expect(numbers).toEqual(numbers.map((_, index) => index + 1))
    const { lines } = await api.listEndpointLogLines({ path: { id: path.endpointId } })
    await all.page.getByText(`${lines.length} line${lines.length === 1 ? '' : 's'}`, { exact: true }).waitFor()
    await api.cancelJob({ path: { ...path, jobId: job.id } })
    for (const visitor of [log, all, work]) {
      expect(visitor.complaints.filter(isOwnFault)).toEqual([])
      await visitor.close()
    }
    await proxy.close()
  })
})

/** The browser logs requests without an answer, and a shell that the plane refuses while its host is offline. */
const isOwnFault = (text: string) => !text.includes('net::') && !text.startsWith('WebSocket connection to ')

const says = (page: Page, text: string) =>
  waitUntil(
    `the terminal says ${text}`,
    async () => (await page.locator('.xterm-accessibility-tree').innerText()).includes(text),
    PATIENCE_MS,
  )

/** Presses the button once it is enabled; returns whether a shell opened. */
async function connectsAgain(page: Page): Promise<boolean> {
  if (await page.getByText('Connected').isVisible()) return true
  const button = page.getByRole('button', { name: 'Connect again' })
  if ((await button.getAttribute('aria-disabled')) === null) await button.click()
  return false
}

/** The files that the shells of the test have written in a pod. */
async function filesOf(one: TestPod): Promise<string[]> {
  const [container] = await one.containers()
  const listed = await docker('exec', container?.Id ?? '', '/bin/busybox', 'ls', '/')
  return listed.split('\n').filter((name) => ['before', 'after', 'typed-to-nobody'].includes(name))
}

async function chunksOf({ page }: Visitor): Promise<number[]> {
  const region = page.getByRole('region', { name: 'Chunks' })
  if ((await region.count()) === 0) return []
  const text = await region.locator('pre').innerText()
  return text.split('\n').map((line) => (JSON.parse(line) as { chunk: number }).chunk)
}

async function textOf(download: { createReadStream(): Promise<NodeJS.ReadableStream> }): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of await download.createReadStream()) parts.push(Buffer.from(part))
  return Buffer.concat(parts).toString('utf8')
}
