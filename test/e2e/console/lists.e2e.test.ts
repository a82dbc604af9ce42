import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createApiClient } from '../../../src/client/client.ts'
import { openDataDir } from '../../../src/local/data-dir.ts'
import { SOON } from '../../support/time.ts'
import { openLocalDatabase } from '../support/plane/local-database.ts'
import { hostIsOnline, startPlane, type TestPlane } from '../support/plane/plane.ts'
import { openBrowser, Visitor } from './support/browser.ts'
import { lead } from './support/walk.ts'

// An account with 10,000 pods, all but one of them dead and younger than the one that runs.

const DEAD = 10_000
const ROWS = 50
/** Every row has some fifteen elements. */
const MOST_ELEMENTS = 1_400
/** A second on a machine that has time; other tests run beside this one. */
const MOST_MS = 5_000
const REASON = 'the image cannot be pulled'

/** Copies a pod in the database of a stopped plane. */
function bury(plane: TestPlane, podId: string): void {
  const database = openLocalDatabase(openDataDir(plane.dataDir).storage, { readOnly: false })
  try {
    const changed = ['id', 'name', 'status', 'status_reason', 'created_at', 'charged_from', 'disk_charged_from', 'started_at']
    const columns = database.prepare('SELECT name FROM pragma_table_info(?)').all('pods') as unknown as { name: string }[]
    const kept = columns.map(({ name }) => name).filter((name) => !changed.includes(name))
    database
      .prepare(
        `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
         INSERT INTO pods (${[...changed, ...kept].join()})
         SELECT id || i, 'dead-' || i, 'ERROR', ?, created_at + i, NULL, NULL, NULL, ${kept.join()} FROM n, pods WHERE id = ?`,
      )
      .run(DEAD, REASON, podId)
  } finally {
    database.close()
  }
}

describe('[UI-80, UI-81] the console of an account with 10,000 pods', () => {
  let plane: TestPlane
  let browser: Browser
  let visitor: Visitor
  const rows = () => visitor.page.getByRole('table', { name: 'Pods' }).locator('tbody tr')
  const named = (name: string) => visitor.page.getByRole('link', { name, exact: true })

  beforeAll(async () => {
    ;[plane, browser] = await Promise.all([startPlane({ args: ['--simulate-gpus', 'NVIDIA L4:1'] }), openBrowser()])
    await hostIsOnline(plane)
    const api = createApiClient(plane.url, plane.apiKey)
    const { id } = await api.createPod({ body: { name: 'training', image: 'builtin/idle', disk: 1, gpu: { id: 'NVIDIA L4', count: 1 } } })
    await api.getPod({ path: { id }, query: { waitFor: 'RUNNING' } })
    await plane.kill('SIGINT')
    bury(plane, id)
    plane = await plane.restart()
    // Its process has ended with the plane.
    await hostIsOnline(plane)
    const pod = await api.getPod({ path: { id }, query: { waitFor: 'EXITED' } })
    if (pod.status !== 'RUNNING') await api.actOnPod({ path: { id }, body: { action: 'start' } })
    expect(await api.getPod({ path: { id }, query: { waitFor: 'RUNNING' } })).toMatchObject({ status: 'RUNNING' })
    visitor = await Visitor.open(browser, plane)
    await visitor.signIn(plane.apiKey)
    visitor.page.setDefaultTimeout(12_000)
  }, 180_000)
  afterAll(async () => {
    await visitor?.close()
    await browser?.close()
    await plane?.stop()
  })

  test('Home has the counts of the plane, and one line for all equal failures', async () => {
    await named('10,001 pods').waitFor()
    const attention = visitor.page.locator('section').filter({ has: visitor.page.getByRole('heading', { name: 'Needs attention' }) })
    await attention.getByText(REASON).waitFor()
    expect(await attention.getByRole('listitem').count()).toBeLessThanOrEqual(6)
    expect(await attention.getByText(REASON).count()).toBe(1)
    await visitor.page.getByText('1 running, 10,000 failed').waitFor()
    await named('training').waitFor()
    expect(await visitor.page.locator('*').count()).toBeLessThan(MOST_ELEMENTS)
  })

  test('[UI-76] the list opens fast, with one request and 50 rows', async () => {
    const asked = visitor.requests.length
    const start = performance.now()
    await lead(visitor.page, '/console/pods')
    await named('dead-10000').waitFor()
    expect(performance.now() - start).toBeLessThan(MOST_MS)
    expect(await rows().count()).toBe(ROWS)
    expect(await visitor.page.locator('*').count()).toBeLessThan(MOST_ELEMENTS)
    const lists = visitor.requests.slice(asked).filter((request) => request === 'GET /v2/pods')
    expect(lists).toHaveLength(1)
    await visitor.expectAccessible('the list of pods')
  })

  test('the pod that runs is found by state, by name and by order, and the address has the filter', async () => {
    const { page } = visitor
    await page.getByLabel('State').selectOption({ label: 'RUNNING (1)' })
    await named('training').waitFor()
    await expect.poll(() => rows().count(), SOON).toBe(1)
    expect(new URL(page.url()).search).toBe('?state=RUNNING')
    await page.getByLabel('State').selectOption({ label: 'All (10,001)' })
    await page.getByRole('searchbox', { name: 'Name contains' }).fill('TRAIN')
    await expect.poll(() => rows().count(), SOON).toBe(1)
    await visitor.go('/console/pods?name=train')
    await named('training').waitFor()
    await visitor.go('/console/pods?sort=oldest')
    await named('training').waitFor()
    expect(await rows().count()).toBe(ROWS)
  })

  test('pages follow each other, and another filter begins at its first page', async () => {
    const { page } = visitor
    await visitor.go('/console/pods')
    await named('dead-10000').waitFor()
    await page.getByRole('button', { name: 'Next page' }).click()
    await named('dead-9950').waitFor()
    expect(await named('dead-10000').count()).toBe(0)
    expect(new URL(page.url()).searchParams.has('cursor')).toBe(true)
    await page.getByLabel('State').selectOption({ label: 'RUNNING (1)' })
    await named('training').waitFor()
    expect(new URL(page.url()).searchParams.has('cursor')).toBe(false)
    expect(visitor.complaints).toEqual([])
  })
})
