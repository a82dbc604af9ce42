import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createApiClient } from '../../../src/client/client.ts'
import { pageOf } from '../../../src/client/page.ts'
import { paths } from '../../../src/console/hooks/paths.ts'
import { hostIsOnline, startPlane, type TestPlane } from '../support/plane/plane.ts'
import { openBrowser, Visitor } from './support/browser.ts'

const PHONE = { viewport: { width: 390, height: 844 } }

describe('[UI-44, UI-45, UI-46, UI-47, UI-54] endpoints and jobs in the console', () => {
  let plane: TestPlane
  let browser: Browser
  let probeId: string
  beforeAll(async () => {
    ;[plane, browser] = await Promise.all([startPlane({ args: ['--simulate-gpus', 'NVIDIA L4:1'] }), openBrowser()])
    await hostIsOnline(plane)
    const api = createApiClient(plane.url, plane.apiKey)
    await api.createSecret({ body: { name: 'hf', value: 'never shown' } })
    const env = { MODEL: 'small' }
    const body = { name: 'probe', env, image: 'builtin/probe', cpu: [{ id: 'cpu3c', vcpuCount: 2 }], disk: 1, workers: { min: 0, max: 1 } }
    probeId = (await api.createEndpoint({ body })).id
  })
  afterAll(async () => {
    await browser?.close()
    await plane?.stop()
  })

  test('a new user signs in, tries the endpoint, reads the log line and opens the job', async () => {
    const visitor = await Visitor.open(browser, plane)
    const { page } = visitor
    await visitor.signIn(plane.apiKey, paths.endpoints())
    await visitor.heading('Endpoints')
    await page.getByRole('link', { name: 'echo', exact: true }).waitFor()
    await visitor.expectAccessible('endpoints')
    await visitor.picture('endpoints')
    await page.getByRole('link', { name: 'echo', exact: true }).click()
    await visitor.heading('echo')
    await visitor.expectAccessible('endpoint')
    await visitor.picture('endpoint')
    await page.getByRole('tab', { name: 'Try' }).click()
    await page.getByLabel('Send', { exact: true }).selectOption('chat')
    await page.getByLabel('Message').fill('a lighthouse at dawn')
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    await page.getByText('Assistanta lighthouse at dawn', { exact: true }).waitFor()
    await visitor.expectAccessible('a chat')
    await visitor.picture('endpoint-chat')
    await page.getByLabel('Send', { exact: true }).selectOption('job')
    await page.getByLabel('Input').fill('{"prompt": "a lighthouse at dusk"}')
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    await page.getByRole('region', { name: 'the output' }).getByText('a lighthouse at dusk').waitFor()
    await visitor.expectAccessible('try')
    await visitor.picture('endpoint-try')
    await page.getByRole('link', { name: 'Open the job' }).click()
    await visitor.heading(/^Job /)
    await page.getByRole('region', { name: 'the output' }).getByText('a lighthouse at dusk').waitFor()
    await visitor.expectAccessible('job')
    await visitor.picture('job')
    await page.getByRole('tab', { name: 'Logs' }).click()
    // The log of one attempt covers a closed time range, so it has an end.
    await page.getByText('The complete log is shown').waitFor()
    await visitor.expectAccessible('log of a job')
    await visitor.picture('job-logs')
    for (const tab of ['Webhook deliveries', 'Chunks', 'Logs']) await page.getByRole('tab', { name: tab }).click()
    await page.getByRole('link', { name: 'Complete log of this worker' }).click()
    await page.getByRole('row').first().waitFor()
    expect(visitor.complaints).toEqual([])
    await visitor.close()
  })

  test('[UI-6, WHY-12] an endpoint without capacity shows that before it is created; the offered option is pressed, it is created and its worker runs', async () => {
    const visitor = await Visitor.open(browser, plane)
    const { page } = visitor
    await visitor.signIn(plane.apiKey, paths.newEndpoint())
    await page.getByLabel('Name').fill('way-out')
    await page.getByLabel('Image').fill('builtin/echo')
    await page.getByRole('button', { name: /^Show all / }).click()
    await page.getByRole('radio', { name: /H100 PCIe/ }).check()
    await page.getByText('No worker would start now.').waitFor()
    const nearest = page.getByRole('region', { name: 'Alternatives that fit now' })
    await visitor.expectAccessible('a new endpoint that has no room')
    await visitor.picture('endpoint-new-nearest')
    await nearest.getByRole('button', { name: /AMPERE_24/ }).click()
    await page.getByText('A worker fits now').waitFor()
    await page.getByText('Applied from the suggestion: gpu.').waitFor()
    await page.getByRole('button', { name: 'Create endpoint' }).click()
    await visitor.heading('way-out')
    await page.getByRole('tab', { name: 'Try' }).click()
    await page.getByLabel('Input').fill('{"prompt": "a way out"}')
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    await page.getByRole('region', { name: 'the output' }).getByText('a way out').waitFor()
    const api = createApiClient(plane.url, plane.apiKey)
    const made = pageOf(await api.listEndpoints()).items.find(({ name }) => name === 'way-out')
    expect(made?.gpu?.pools).toEqual(expect.arrayContaining(['ADA_80_PRO', 'AMPERE_24']))
    await api.deleteEndpoint({ path: { id: made?.id ?? '' } })
    expect(visitor.complaints).toEqual([])
    await visitor.close()
  })

  test('a failed job is retried, and a waiting job shows the reason and is cancelled', async () => {
    const api = createApiClient(plane.url, plane.apiKey)
    const path = { endpointId: probeId }
    const failed = await api.runJobSync({ path, body: { input: { fail: 'no disk left' } } })
    const running = await api.runJob({ path, body: { input: { chunks: 500, chunkMs: 200 } } })
    const waiting = await api.runJob({ path, body: { input: {} } })
    const visitor = await Visitor.open(browser, plane, PHONE)
    const { page } = visitor
    await visitor.signIn(plane.apiKey, `${paths.endpoint(probeId)}?tab=jobs`)
    await page.getByRole('link', { name: waiting.id }).waitFor()
    await visitor.expectAccessible('jobs on a phone')
    await visitor.picture('jobs-phone')
    await page.getByLabel('State').selectOption('FAILED')
    await page.getByRole('link', { name: waiting.id }).waitFor({ state: 'detached' })
    expect(new URL(page.url()).searchParams.get('status')).toBe('FAILED')
    await page.getByRole('button', { name: 'Cancel all…' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('1 FAILED: it is over').waitFor()
    await dialog.getByRole('button', { name: 'Close without changes' }).click()
    await page.getByRole('link', { name: failed.id }).click()
    await page.getByRole('region', { name: 'the error' }).getByText('no disk left').waitFor()
    await page.getByRole('region', { name: 'the input' }).getByText('"fail": "no disk left"').waitFor()
    await page.getByRole('button', { name: 'Retry' }).click()
    await page.getByText('The job is queued again').waitFor()
    await visitor.go(paths.job(probeId, waiting.id))
    await page.getByRole('heading', { name: 'Explanation' }).waitFor()
    await page.getByText('every worker is busy').first().waitFor()
    await visitor.expectAccessible('why')
    await visitor.picture('job-why-phone')
    await page.getByRole('button', { name: 'Cancel job' }).click()
    await page.getByText('The job is cancelled').waitFor()
    expect((await api.getJobStatus({ path: { ...path, jobId: waiting.id } })).status).toBe('CANCELLED')
    await visitor.go(`${paths.job(probeId, running.id)}?tab=chunks`)
    await page.getByText('{"chunk":2}').waitFor()
    // The output that the page has read is still there for other readers.
    const { stream } = await api.streamJob({ path: { ...path, jobId: running.id } })
    expect(stream[0]).toEqual({ output: { chunk: 0 } })
    await api.cancelJob({ path: { ...path, jobId: running.id } })
    await visitor.picture('job-chunks-phone')
    expect(visitor.complaints).toEqual([])
    await visitor.close()
  })

  test('[UI-51, UI-53] jobs of a filter are cancelled together, and the endpoint has one log of all its workers', async () => {
    const api = createApiClient(plane.url, plane.apiKey)
    const path = { endpointId: probeId }
    // A job retried earlier may still wait; the plan would list it too.
    await expect
      .poll(async () => (await api.getQueueHealth({ path })).jobs, { timeout: 60_000 })
      .toMatchObject({ inQueue: 0, inProgress: 0 })
    const over = await api.runJob({ path, body: { input: {} } })
    await api.cancelJob({ path: { ...path, jobId: over.id } })
    const running = await api.runJob({ path, body: { input: { hang: true } } })
    const waiting = await Promise.all([1, 2].map(() => api.runJob({ path, body: { input: {} } })))
    const visitor = await Visitor.open(browser, plane)
    const { page } = visitor
    const dialog = page.getByRole('dialog')
    await visitor.signIn(plane.apiKey, `${paths.endpoint(probeId)}?tab=jobs&within=1h`)
    await page.getByRole('button', { name: 'Cancel all…' }).click()
    await dialog.getByRole('region', { name: 'Unchanged jobs' }).getByText('CANCELLED: it is over').waitFor()
    expect((await api.getJobStatus({ path: { ...path, jobId: running.id } })).status).not.toBe('CANCELLED')
    await visitor.expectAccessible('the plan for many jobs')
    await visitor.picture('jobs-bulk-plan')
    await dialog.getByRole('button', { name: 'Cancel 3 jobs' }).click()
    await dialog.getByText('3 of 3 processed: 3 cancelled, 0 unchanged.').waitFor()
    expect(await dialog.getByRole('cell', { name: 'cancelled' }).count()).toBe(3)
    await visitor.expectAccessible('what became of many jobs')
    await visitor.picture('jobs-bulk-result')
    for (const { id } of [running, ...waiting]) expect((await api.getJobStatus({ path: { ...path, jobId: id } })).status).toBe('CANCELLED')
    await dialog.getByRole('button', { name: 'Close' }).click()
    await page.getByRole('tab', { name: 'Logs' }).click()
    const { lines } = await api.listEndpointLogLines({ path: { id: probeId } })
    const row = page
      .getByRole('grid', { name: `Lines of endpoint ${probeId}` })
      .getByRole('row')
      .first()
    await row.getByRole('link', { name: lines[0]?.workerId ?? 'no worker' }).waitFor()
    await visitor.expectAccessible('the log of an endpoint')
    await visitor.picture('endpoint-logs')
    expect(visitor.complaints).toEqual([])
    await visitor.close()
  })

  test('[DRY-17] settings send only differences, a release is rolled back, and the endpoint is deleted by its name', async () => {
    const api = createApiClient(plane.url, plane.apiKey)
    const visitor = await Visitor.open(browser, plane)
    const { page } = visitor
    await visitor.signIn(plane.apiKey, paths.newEndpoint())
    await page.getByLabel('Name').fill('made-here')
    await page.getByLabel('Image').fill('NOT AN IMAGE')
    await page.getByRole('radio', { name: 'CPU' }).check()
    await page.getByRole('table', { name: 'CPU types' }).getByRole('radio').first().check()
    await visitor.expectAccessible('new endpoint')
    await visitor.picture('endpoint-new')
    await page.getByRole('button', { name: 'Create endpoint' }).click()
    await page.getByText('want an image reference').first().waitFor()
    await page.getByLabel('Image').fill('builtin/echo')
    await page.getByRole('button', { name: 'Create endpoint' }).click()
    await visitor.heading('made-here')
    await visitor.go(`${paths.endpoint(probeId)}?tab=settings`)
    await page.getByLabel('Maximum workers').fill('-1')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('alert').first().waitFor()
    await page.getByLabel('Maximum workers').fill('2')
    await page.getByLabel('Image').fill('builtin/echo')
    await page.getByRole('button', { name: 'Add a variable' }).click()
    const variable = page.getByRole('group', { name: 'Variable' }).last()
    await variable.getByRole('textbox', { name: 'Variable' }).fill('HF_TOKEN')
    await variable.getByRole('combobox', { name: 'Type' }).selectOption('secret')
    await variable.getByRole('combobox', { name: 'Secret' }).selectOption('hf')
    await page.getByRole('list', { name: 'Effects', exact: true }).getByText('release 2 is created').waitFor()
    await visitor.expectAccessible('settings')
    await visitor.picture('endpoint-settings')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('The endpoint is changed').waitFor()
    expect(await api.getEndpoint({ path: { id: probeId } })).toMatchObject({
      image: 'builtin/echo',
      workers: { max: 2 },
      env: { MODEL: 'small', HF_TOKEN: '{{ RUNPOD_SECRET_hf }}' },
    })
    await page.getByRole('tab', { name: 'Releases' }).click()
    await page.getByRole('button', { name: 'Roll back to release 1' }).click()
    await page.getByRole('dialog').getByText('builtin/probe').waitFor()
    await visitor.expectAccessible('going back')
    await page.getByRole('dialog').getByRole('button', { name: 'Roll back' }).click()
    await page.getByText('Rolled back to release 1').waitFor()
    expect(await api.getEndpoint({ path: { id: probeId } })).toMatchObject({ image: 'builtin/probe', workers: { max: 2 } })
    await visitor.picture('endpoint-releases')
    for (const tab of ['Workers', 'Scaling', 'History']) {
      await page.getByRole('tab', { name: tab }).click()
      await visitor.expectAccessible(tab)
    }
    await page.getByRole('tab', { name: 'Settings' }).click()
    await page.getByRole('button', { name: 'Delete endpoint' }).click()
    await page.getByLabel('Type probe to continue').fill('probe')
    await page.getByRole('dialog').getByRole('button', { name: 'Delete endpoint' }).click()
    await visitor.heading('Endpoints')
    const { items } = pageOf(await api.listEndpoints())
    expect(items.map(({ name }) => name).sort()).toEqual(['echo', 'made-here'])
    // The browser logs the refusal that this test provokes.
    expect(visitor.complaints.filter((text) => !text.includes('422'))).toEqual([])
    await visitor.close()
  })
})
