import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createApiClient } from '../../../src/client/client.ts'
import { pageOf } from '../../../src/client/page.ts'
import { SOON, waitUntil } from '../../support/time.ts'
import { BUILD_TIMEOUT_MS, busyboxImage } from '../support/agent/worker-image.ts'
import { hostIsOnline, startPlane, type TestPlane } from '../support/plane/plane.ts'
import { podBody, TestPod } from '../support/plane/pods.ts'
import { openBrowser, Visitor } from './support/browser.ts'
import { tabTo, typeInto } from './support/keyboard.ts'

/** Ends on SIGTERM: a first process that ignores it is killed ten seconds later. */
const STAY = 'trap "exit 0" TERM; while :; do busybox sleep 1 & wait $!; done'
const PHONE = { viewport: { width: 390, height: 844 }, colorScheme: 'dark' as const }
const PATIENCE_MS = 30_000

let plane: TestPlane
let browser: Browser
let image: string
beforeAll(async () => {
  image = await busyboxImage()
  ;[plane, browser] = await Promise.all([startPlane({ args: ['--simulate-gpus', 'NVIDIA L4:6'] }), openBrowser()])
  await hostIsOnline(plane)
}, BUILD_TIMEOUT_MS)
afterAll(async () => {
  await browser?.close()
  await plane?.stop()
})

/** A page is as wide as its screen. */
async function expectNoOverflow({ page }: Visitor): Promise<void> {
  expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0)
}

describe('pods', () => {
  test('[UI-20, UI-21, UI-72] are created and stopped, and their logs read and searched, by keyboard alone', async () => {
    const visitor = await Visitor.open(browser, plane)
    const { page } = visitor
    await visitor.signIn(plane.apiKey, '/console/pods')
    await page.getByText('No pods yet').waitFor()
    await visitor.expectAccessible('pods, empty')
    await tabTo(page, 'New pod')
    await page.keyboard.press('Enter')
    await visitor.heading('New pod')
    await page.getByRole('radio', { name: 'L4', exact: true }).waitFor()
    await typeInto(page, 'Name', 'by-keyboard')
    await typeInto(page, 'Image', image)
    await typeInto(page, 'Command', JSON.stringify({ cmd: ['/bin/busybox', 'sh', '-c', STAY] }))
    await typeInto(page, 'Container disk (GB)', '1')
    await tabTo(page, 'L4')
    await page.keyboard.press('Space')
    await page.getByText('Fits now').waitFor()
    await visitor.expectAccessible('a new pod')
    await visitor.picture('new-pod')
    await tabTo(page, 'Create pod')
    await page.keyboard.press('Enter')
    await visitor.heading('by-keyboard')
    await page.getByRole('heading', { name: 'by-keyboard' }).waitFor()
    await page.getByText('RUNNING').first().waitFor()
    await tabTo(page, 'Stop')
    await page.keyboard.press('Enter')
    await page.getByText('EXITED').first().waitFor()
    expect(visitor.complaints).toEqual([])
    const { pods } = (await (await fetch(`${plane.url}/v2/pods`, { headers: { authorization: `Bearer ${plane.apiKey}` } })).json()) as {
      pods: { name: string; status: string; disk: number }[]
    }
    expect(pods).toMatchObject([{ name: 'by-keyboard', status: 'EXITED', disk: 1 }])
    await tabTo(page, 'Overview')
    for (const name of ['Connect', 'Terminal', 'Metrics', 'Logs']) {
      await page.keyboard.press('ArrowRight')
      await page.getByRole('tab', { name }).and(page.locator(':focus')).waitFor()
    }
    await page.keyboard.press('Enter')
    const lines = page.getByRole('grid')
    await lines.getByText('creating from image').waitFor()
    await typeInto(page, 'Search', 'creating')
    await page.getByText('1 match', { exact: true }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByText('1 of 1', { exact: true }).waitFor()
    await tabTo(page, (await lines.getAttribute('aria-label')) ?? '')
    await page.keyboard.press('Home')
    await page.keyboard.press('Enter')
    await expect.poll(() => new URL(page.url()).searchParams.get('line'), SOON).toMatch(/\/\d{12}$/)
    await visitor.close()
  })

  test('[UI-20, UI-25, UI-33, UI-58] many are stopped at once, and terminating one needs a confirmation', async () => {
    const made = await Promise.all(['one', 'two'].map((name) => TestPod.run(plane, podBody(image, STAY, { name }))))
    const visitor = await Visitor.open(browser, plane)
    const { page } = visitor
    await visitor.signIn(plane.apiKey, '/console/pods?state=RUNNING')
    for (const name of ['one', 'two']) await page.getByLabel(`Select ${name}`).check()
    expect(await page.getByText('by-keyboard').count()).toBe(0)
    await page.getByRole('button', { name: 'Stop selected' }).click()
    await page.getByText('This saves $0.88/h').waitFor()
    const effects = page.getByRole('dialog').getByRole('list', { name: 'Effects', exact: true })
    for (const name of ['one', 'two']) await effects.getByText(`pod ${name}`).first().waitFor()
    await visitor.expectAccessible('the stop of many')
    await page.getByRole('button', { name: 'Stop pods' }).click()
    await Promise.all(made.map((pod) => pod.reaches('EXITED')))
    await page.getByLabel('State').selectOption('')
    await page.getByRole('button', { name: 'Actions for one' }).click()
    await page.getByRole('menuitem', { name: 'Terminate' }).click()
    await page.getByRole('dialog').getByRole('list', { name: 'Effects', exact: true }).waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    expect((await made[0]?.get())?.status).toBe('EXITED')
    expect(visitor.complaints).toEqual([])
    await visitor.close()
  })

  test('[UI-31] a stopped pod shows the reason, and the offered action starts it', async () => {
    const stopped = await TestPod.run(plane, podBody(image, STAY, { name: 'three' }))
    await stopped.act('stop')
    await stopped.reaches('EXITED')
    const visitor = await Visitor.open(browser, plane)
    const { page } = visitor
    await visitor.signIn(plane.apiKey, `/console/pods/${stopped.id}`)
    const options = page.getByRole('region', { name: 'Changes that would start it now' })
    await options.waitFor()
    await visitor.expectAccessible('why a pod does not run')
    await visitor.picture('pod-why')
    await options.getByRole('button').first().click()
    await stopped.reaches('RUNNING')
    await page.getByText('RUNNING').first().waitFor()
    expect(visitor.complaints).toEqual([])
    await stopped.terminate()
    await visitor.close()
  })

  test('[UI-6, UI-21] a pod without capacity shows that before it is created, and the nearest option is pressed and runs', async () => {
    const visitor = await Visitor.open(browser, plane)
    const { page } = visitor
    await visitor.signIn(plane.apiKey, '/console/pods/new')
    await page.getByLabel('Name').fill('nearest')
    await page.getByRole('radio', { name: 'L4', exact: true }).check()
    await page.getByLabel('Image').fill('builtin/idle')
    await page.getByLabel('GPUs').fill('3')
    await page.getByText('Fits now').waitFor()
    await page.getByLabel('GPUs').fill('8')
    await page.getByText('No machine has capacity for the pod now.').waitFor()
    await page.getByText('It needs 8 free NVIDIA L4: the machine lacks that.').waitFor()
    const nearest = page.getByRole('region', { name: 'Alternatives that fit now' })
    await visitor.expectAccessible('a new pod that has no room')
    await visitor.picture('new-pod-nearest')
    await page.getByLabel('Ports').fill('99/udp')
    await waitUntil('the field is marked', async () => (await page.getByLabel('Ports').getAttribute('aria-invalid')) === 'true')
    await visitor.expectAccessible('a refusal beside its field')
    await page.getByLabel('Ports').fill('')
    await nearest.waitFor()
    expect(await nearest.getByRole('listitem').allInnerTexts()).toEqual(['Take 6 GPUs\n$2.64/h, −$0.88/h'])
    await nearest.getByRole('button', { name: 'Take 6 GPUs' }).click()
    expect(await page.getByLabel('GPUs').inputValue()).toBe('6')
    await page.getByText('Fits now').waitFor()
    await page.getByRole('button', { name: 'Create pod' }).click()
    await visitor.heading('nearest')
    await page.getByText('RUNNING').first().waitFor()
    const api = createApiClient(plane.url, plane.apiKey)
    const made = pageOf(await api.listPods()).items.find(({ name }) => name === 'nearest')
    expect(made?.gpu).toMatchObject({ id: 'NVIDIA L4', count: 6 })
    await api.deletePod({ path: { id: made?.id ?? '' } })
    // Its capacity is free once its host has reported the end; the next pod needs some of it.
    const isFree = async () =>
      (await createApiClient(plane.url, plane.operatorKey).listHosts()).hosts.every(({ gpus }) =>
        gpus.every(({ free, total }) => free === total),
      )
    await expect.poll(isFree, { timeout: 20_000 }).toBe(true)
    await visitor.close()
  })
})

describe('a pod', () => {
  let pod: TestPod
  beforeAll(async () => {
    pod = await TestPod.run(plane, podBody(image, STAY, { name: 'lab', ports: ['8888/http', '22/tcp'], startSsh: true }))
  })

  test('[UI-24] has a terminal that types and reads, knows its size, and releases the keyboard', async () => {
    const visitor = await Visitor.open(browser, plane)
    const { page } = visitor
    await visitor.signIn(plane.apiKey, `/console/pods/${pod.id}?tab=terminal`)
    await page.getByText('Connected').waitFor()
    const screen = page.locator('.xterm-accessibility-tree')
    const says = (text: string) =>
      waitUntil(`the terminal says ${text}`, async () => (await screen.innerText()).includes(text), PATIENCE_MS)
    await page.keyboard.type('echo $((6*7))-read\n')
    await says('42-read')
    await page.keyboard.type('stty size\n')
    const wide = await waitUntil('its size', async () => /\n(\d+ \d+)/.exec(await screen.innerText())?.[1], PATIENCE_MS)
    await page.setViewportSize({ width: 800, height: 600 })
    await waitUntil(
      'another size',
      async () => {
        await page.keyboard.type('clear; stty size\n')
        const now = /\n?(\d+ \d+)\s/.exec(await screen.innerText())?.[1]
        return now !== undefined && now !== wide
      },
      PATIENCE_MS,
    )
    await visitor.expectAccessible('the terminal')
    await visitor.picture('terminal')
    await page.keyboard.press('Control+Shift+Escape')
    expect(await page.evaluate('document.activeElement.innerText')).toBe('Connect again')
    await page.locator('.xterm').click()
    await page.keyboard.type('exit 3\n')
    await page.getByText('The shell ended with exit code 3.').waitFor()
    await page.getByRole('button', { name: 'Connect again' }).click()
    await page.getByText('Connected').waitFor()
    expect(visitor.complaints).toEqual([])
    await visitor.close()
  })

  test('[UI-23, POD-60] is changed by its settings and given a stop time', async () => {
    const visitor = await Visitor.open(browser, plane)
    const { page } = visitor
    await visitor.signIn(plane.apiKey, `/console/pods/${pod.id}`)
    await page.getByRole('button', { name: 'Set stop time' }).click()
    await page.getByText(/^in [12] h$/).waitFor()
    await page.getByRole('button', { name: 'Clear stop time' }).click()
    await page.getByText('No stop time is set.').waitFor()
    await page.getByRole('tab', { name: 'Settings' }).click()
    await page.getByLabel('Environment').fill('MODE=fast')
    await page.getByText('starts the pod in a new container at once').waitFor()
    await page.getByLabel('Environment').fill('')
    await page.getByLabel('Name').fill('laboratory')
    await page.getByRole('button', { name: 'Save' }).click()
    await visitor.heading('laboratory')
    const { status, startedAt } = await pod.get()
    expect([status, startedAt]).toEqual(['RUNNING', pod.created.startedAt ?? startedAt])
    expect(visitor.complaints).toEqual([])
    await visitor.close()
  })

  test('[UI-12, UI-26, UI-32] its pages fit a phone, work in the dark, and are accessible', async () => {
    const visitor = await Visitor.open(browser, plane, PHONE)
    await visitor.signIn(plane.apiKey, '/console/pods')
    await visitor.page.getByLabel('Select by-keyboard').waitFor()
    await visitor.expectAccessible('pods on a phone')
    await expectNoOverflow(visitor)
    for (const tab of ['overview', 'connect', 'settings', 'logs']) {
      await visitor.go(`/console/pods/${pod.id}?tab=${tab}`)
      await visitor.page.getByRole('tabpanel').waitFor()
      await visitor.expectAccessible(`a pod on a phone: ${tab}`)
      await expectNoOverflow(visitor)
      await visitor.picture(`pod-${tab}-phone`)
      if (tab === 'connect') {
        const link = visitor.page.getByRole('link', { name: '(new tab)' })
        expect(await link.getAttribute('href')).toBe(`http://${pod.id}-8888.localhost:${plane.port}/`)
      }
    }
    await visitor.go(`/console/pods/${pod.id}?tab=metrics&range=10m`)
    await visitor.page.getByText('busy: last').first().waitFor()
    await visitor.expectAccessible('metrics of a pod on a phone')
    await expectNoOverflow(visitor)
    expect(visitor.complaints).toEqual([])
    await visitor.close()
  })

  test('[UI-26] an unknown pod is an error message; an open page shows when its plane is down', async () => {
    const visitor = await Visitor.open(browser, plane)
    const { page } = visitor
    await visitor.signIn(plane.apiKey, '/console/pods/nothere1234567')
    await page.getByRole('alert').waitFor()
    await visitor.expectAccessible('a pod that is not there')
    await visitor.go(`/console/pods/${pod.id}`)
    await visitor.heading('laboratory')
    await plane.kill('SIGINT')
    await page.getByText('Last updated').first().waitFor()
    await visitor.heading('laboratory')
    await visitor.expectAccessible('a pod of a plane that is gone')
    await visitor.close()
  })
})
