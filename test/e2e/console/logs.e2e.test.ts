import { readFileSync } from 'node:fs'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createApiClient } from '../../../src/client/client.ts'
import { paths } from '../../../src/console/hooks/paths.ts'
import { SOON, waitUntil } from '../../support/time.ts'
import { busyboxImage } from '../support/agent/worker-image.ts'
import { docker } from '../support/machines/docker.ts'
import { startAgent, startPlane, type TestAgent, type TestPlane } from '../support/plane/plane.ts'
import { podBody, TestPod } from '../support/plane/pods.ts'
import { openBrowser, Visitor } from './support/browser.ts'

const LINES = 100_000
/**
 * A piece is printed once the view has the piece before: an agent that gets 100,000 lines at once drops some, and reports that (HOST-13).
 */
const PIECES = 4
const PIECE = LINES / PIECES
const WAIT = 'while [ ! -e /go$k ]; do busybox usleep 50000; done'
const PRINT = `for k in $(busybox seq 0 ${PIECES - 1}); do ${WAIT}; busybox seq $((k*${PIECE}+1)) $((k*${PIECE}+${PIECE})) | busybox sed "s|.*|line & of many|"; done`
/** The plane takes some thousand lines a second on a busy machine. */
const ALL_LINES_MS = 60_000
const LAST = `printf '\\033[31mred\\033[0m https://example.com/x <b>markup</b>\\n'`
const STAY = 'while :; do busybox sleep 1 & wait $!; done'
const SCRIPT = `trap "exit 0" TERM; echo ready; ${PRINT}; ${LAST}; ${STAY}`

/** Prints a number each tenth of a second, from 1. */
const COUNT = `trap "exit 0" TERM; n=0; while :; do n=$((n+1)); echo "number $n"; busybox usleep 100000; done`
/** A plane starts within this on a busy machine. */
const RESTART_MS = 60_000

const PHONE = { viewport: { width: 390, height: 844 } }

describe('[UI-40, UI-41, UI-42, UI-43, UI-52, UI-53, LOG-33] the log of a pod in the console', () => {
  let plane: TestPlane
  let browser: Browser
  let agent: TestAgent
  let pod: TestPod
  beforeAll(async () => {
    ;[plane, browser] = await Promise.all([startPlane({ args: ['--no-agent'] }), openBrowser()])
    // An agent apart from the plane: it stays when the plane restarts.
    agent = await startAgent({ plane, name: 'apart', simulateGpus: 'NVIDIA L4:3' })
    pod = await TestPod.run(plane, podBody(await busyboxImage(), SCRIPT))
  })
  afterAll(async () => {
    await pod?.terminate()
    await browser?.close()
    await agent?.stop()
    await plane?.stop()
  })

  test('100,000 lines arrive, scroll, and are searched; a link to one opens it', async () => {
    const visitor = await Visitor.open(browser, plane)
    const { page } = visitor
    await visitor.signIn(plane.apiKey, `${paths.logs()}?of=pod%2F${pod.id}`)
    const lines = page.getByRole('grid', { name: `Lines of pod ${pod.id}` })
    await lines.getByText('ready', { exact: true }).waitFor()
    const [container] = await pod.containers()
    for (let piece = 0; piece < PIECES; piece += 1) {
      await docker('exec', container?.Id ?? '', '/bin/busybox', 'touch', `/go${piece}`)
      await lines.getByText(`line ${(piece + 1) * PIECE} of many`).waitFor({ timeout: ALL_LINES_MS })
    }
    // The view stays at the end, and markup in a line is text.
    await lines.getByText('<b>markup</b>').waitFor({ timeout: ALL_LINES_MS })
    // Lines that arrived too quickly have been read again: every line is in the view, in its place.
    await expect.poll(() => page.getByText('arrived too quickly').count(), { timeout: ALL_LINES_MS }).toBe(0)
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Save as file' }).click()])
    const saved = readFileSync(await download.path(), 'utf8')
    const numbers = [...saved.matchAll(/ container line (\d+) of many$/gm)].map(([, number]) => Number(number))
    expect(numbers.filter((number, index) => number !== index + 1).slice(0, 5)).toEqual([])
    expect(numbers).toHaveLength(LINES)
    expect(await page.getByText('not retained by the plane').count()).toBe(0)
    expect(await lines.getByRole('link', { name: 'https://example.com/x' }).getAttribute('href')).toBe('https://example.com/x')
    expect(await lines.getByRole('row').count()).toBeLessThan(100)
    await visitor.expectAccessible('a long log')
    await visitor.picture('logs')
    await lines.evaluate((box) => box.scrollTo(0, box.scrollHeight / 2))
    await lines
      .getByText(/^line \d+ of many$/)
      .first()
      .waitFor()
    await page.getByRole('searchbox', { name: 'Search' }).fill('line 9999')
    await page.getByText(/^\d+ match(es)?$/).waitFor()
    await page.getByRole('searchbox', { name: 'Search' }).press('Enter')
    await page.getByText(/^\d+ of \d+$/).waitFor()
    await lines.focus()
    await page.keyboard.press('Home')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('End')
    await page.keyboard.press('ArrowUp')
    await page.keyboard.press('Enter')
    await expect.poll(() => new URL(page.url()).searchParams.get('line'), SOON).toMatch(/\/\d{12}$/)
    expect(visitor.complaints.filter((text) => !text.includes('ERR_NETWORK_CHANGED'))).toEqual([])
    await visitor.go(new URL(page.url()).pathname + new URL(page.url()).search)
    await lines.locator('[aria-selected=true]').getByText('line 100000 of many').waitFor()
    await visitor.picture('logs-line')
    await visitor.close()
  })

  test('an old line is found on the plane, shown among its neighbours, and paged from there', async () => {
    const visitor = await Visitor.open(browser, plane, PHONE)
    const { page } = visitor
    await visitor.signIn(plane.apiKey, `${paths.logs()}?of=pod%2F${pod.id}`)
    const lines = page.getByRole('grid', { name: `Lines of pod ${pod.id}` })
    const search = page.getByRole('searchbox', { name: 'Search' })
    await lines.getByText('line 100000 of many').waitFor()
    await search.fill('line 1777 of')
    await page.getByText('No matches').waitFor()
    await page.getByRole('button', { name: 'Previous match' }).click()
    await lines.locator('[aria-selected=true]').getByText('line 1777 of many').waitFor()
    await page.getByText('Paused').waitFor()
    await visitor.expectAccessible('in the middle of a log')
    await visitor.picture('logs-middle-phone')
    await page.getByRole('button', { name: 'Older lines' }).click()
    await page.getByRole('button', { name: 'Newer lines' }).click()
    await expect.poll(() => lines.getAttribute('aria-rowcount').then(Number), SOON).toBeGreaterThan(2_500)
    await search.fill('line 9999')
    await page.getByLabel('Only matching lines').check()
    await page.getByText('11 lines', { exact: true }).waitFor()
    await visitor.picture('logs-hits-phone')
    expect(visitor.complaints.filter((text) => !text.includes('ERR_NETWORK_CHANGED'))).toEqual([])
    await visitor.close()
  })

  test('[UI-9] open pages survive a restart of their plane: the log loses and duplicates no line, the job continues', async () => {
    const api = createApiClient(plane.url, plane.apiKey)
    const counting = await TestPod.run(plane, podBody(await busyboxImage(), COUNT, { name: 'counting' }))
    const probe = { name: 'probe', image: 'builtin/probe', cpu: [{ id: 'cpu3c', vcpuCount: 2 }], disk: 1, workers: { min: 0, max: 1 } }
    const path = { endpointId: (await api.createEndpoint({ body: probe })).id }
    const job = await api.runJob({ path, body: { input: { chunks: 900, chunkMs: 100 } } })
    const [log, work] = [await Visitor.open(browser, plane), await Visitor.open(browser, plane)]
    await log.signIn(plane.apiKey, `${paths.pod(counting.id)}?tab=logs&source=container`)
    await work.signIn(plane.apiKey, `${paths.job(path.endpointId, job.id)}?tab=chunks`)
    const before = await lastOf(log, counting.id, 5)
    await waitUntil('chunks come', async () => (await chunksOf(work)) > 5, RESTART_MS)
    const requests = [log, work].map(({ requests: { length } }) => length)
    await plane.kill('SIGINT')
    for (const { page } of [log, work]) await page.getByText('Last updated').first().waitFor({ timeout: RESTART_MS })
    const during = await chunksOf(work)
    plane = await plane.restart()
    for (const { page } of [log, work]) await page.getByText('Last updated').first().waitFor({ state: 'detached', timeout: RESTART_MS })
    await lastOf(log, counting.id, before + 50)
    await waitUntil('further chunks come', async () => (await chunksOf(work)) > during + 5, RESTART_MS)
    const all = (await chunkText(work)).split('\n').map((line) => (JSON.parse(line) as { chunk: number }).chunk)
    expect(all).toEqual(all.map((_, index) => index))
    await createApiClient(plane.url, plane.apiKey).cancelJob({ path: { ...path, jobId: job.id } })
    await work.page.getByRole('tab', { name: 'Overview' }).click()
    await work.page.getByText('CANCELLED').first().waitFor()
    // The page itself was loaded once.
    for (const [index, visitor] of [log, work].entries()) {
      expect(
        visitor.requests.slice(requests[index]).filter((request) => request.startsWith('GET /console/') && !request.endsWith('/session')),
      ).toEqual([])
      expect(visitor.complaints.filter((text) => !text.includes('net::'))).toEqual([])
      await visitor.close()
    }
    await counting.on(plane).terminate()
  })
})

/** Waits until that number was printed; every number up to the last one shown appears once. */
async function lastOf({ page }: Visitor, podId: string, atLeast: number): Promise<number> {
  const lines = page.getByRole('grid', { name: `Lines of pod ${podId}` })
  return await waitUntil(
    `line ${atLeast}`,
    async () => {
      const [shown = '', kept = ''] = await Promise.all([lines.innerText(), page.getByText(/^[\d,]+ lines$/).innerText()])
      const numbers = [...shown.matchAll(/number (\d+)$/gm)].map(([, number]) => Number(number))
      const last = Math.max(0, ...numbers)
      if (last < atLeast) return false
      // The two values belong to the same moment only when nothing arrived in between.
      return Number(kept.replace(/\D/g, '')) === last && last
    },
    RESTART_MS,
  )
}

const chunkText = ({ page }: Visitor) => page.getByRole('region', { name: 'Chunks' }).locator('pre').innerText()
const chunksOf = async (visitor: Visitor) =>
  (await visitor.page.getByRole('region', { name: 'Chunks' }).count()) && (await chunkText(visitor)).split('\n').length
