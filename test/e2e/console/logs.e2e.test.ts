import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { paths } from '../../../src/console/app/paths.ts'
import { docker } from '../support/docker.ts'
import { hostIsOnline, startPlane, type TestPlane } from '../support/plane.ts'
import { podBody, TestPod } from '../support/pods.ts'
import { busyboxImage } from '../support/worker-image.ts'
import { openBrowser, Visitor } from './support/browser.ts'

const LINES = 100_000
const WAIT = 'while [ ! -e /go ]; do busybox usleep 50000; done'
/** In pieces: an agent that is told 100,000 lines at once drops some, and says so. */
const PIECE = 5_000
const PRINT = `for k in $(busybox seq 0 ${LINES / PIECE - 1}); do busybox seq $((k*${PIECE}+1)) $((k*${PIECE}+${PIECE})) | busybox sed "s|.*|line & of many|"; busybox usleep 200000; done`
/** The plane takes some thousand lines a second on a busy machine. */
const ALL_LINES_MS = 60_000
const LAST = `printf '\\033[31mred\\033[0m https://example.com/x <b>markup</b>\\n'`
const STAY = 'while :; do busybox sleep 1 & wait $!; done'
const SCRIPT = `trap "exit 0" TERM; echo ready; ${WAIT}; ${PRINT}; ${LAST}; ${STAY}`

describe('[UI-40, UI-41, UI-42, UI-43] the log of a pod in the console', () => {
  let plane: TestPlane
  let browser: Browser
  let pod: TestPod
  beforeAll(async () => {
    ;[plane, browser] = await Promise.all([startPlane({ args: ['--simulate-gpus', 'NVIDIA L4:1'] }), openBrowser()])
    await hostIsOnline(plane)
    pod = await TestPod.run(plane, podBody(await busyboxImage(), SCRIPT))
  })
  afterAll(async () => {
    await pod?.terminate()
    await browser?.close()
    await plane?.stop()
  })

  test('100,000 lines come, scroll, and are searched; a link to one opens it', async () => {
    const visitor = await Visitor.open(browser, plane)
    const { page } = visitor
    await visitor.signIn(plane.apiKey, `${paths.logs()}?of=pod%2F${pod.id}`)
    const lines = page.getByRole('grid', { name: `Lines of pod ${pod.id}` })
    await lines.getByText('ready', { exact: true }).waitFor()
    const [container] = await pod.containers()
    await docker('exec', container?.Id ?? '', '/bin/busybox', 'touch', '/go')
    // It stays at the end, and markup of a line is text.
    await lines.getByText('<b>markup</b>').waitFor({ timeout: ALL_LINES_MS })
    // What a busy machine writes too quickly to be followed is not hidden: together they are all.
    const footer = await page.getByText(/^[\d,]+ lines( came too quickly to be followed)?$/).allTextContents()
    const total = footer.reduce((sum, text) => sum + Number(text.replace(/\D/g, '')), 0)
    expect(total).toBeGreaterThan(LINES)
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
    await page.getByText(/^\d+ hits?$/).waitFor()
    await page.getByRole('searchbox', { name: 'Search' }).press('Enter')
    await page.getByText(/^\d+ of \d+$/).waitFor()
    await lines.focus()
    await page.keyboard.press('Home')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('End')
    await page.keyboard.press('ArrowUp')
    await page.keyboard.press('Enter')
    await expect.poll(() => new URL(page.url()).searchParams.get('line')).toMatch(/\/\d{12}$/)
    expect(visitor.complaints.filter((text) => !text.includes('ERR_NETWORK_CHANGED'))).toEqual([])
    await visitor.go(new URL(page.url()).pathname + new URL(page.url()).search)
    await lines.locator('[aria-selected=true]').getByText('line 100000 of many').waitFor()
    await visitor.picture('logs-line')
    await visitor.close()
  })
})
