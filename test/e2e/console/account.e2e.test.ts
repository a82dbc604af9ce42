import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createApiClient } from '../../../src/client/client.ts'
import { startDeviceLogin, waitForDeviceKey } from '../../../src/client/device.ts'
import { startPlane, type TestPlane } from '../support/plane.ts'
import { openBrowser, Visitor } from './support/browser.ts'

// Pages of an account and of the operator, by the link that npm start prints, on the real plane.

const PAGES = [
  ['/console/usage', 'Usage'],
  ['/console/keys', 'API keys'],
  ['/console/ssh-keys', 'SSH keys'],
  ['/console/team', 'Team'],
  ['/console/webhooks', 'Webhooks'],
  ['/console/audit', 'Audit'],
  ['/console/operator/hosts', 'Hosts'],
  ['/console/operator/add-machine', 'Add a machine'],
  ['/console/operator/waiting', 'Waiting'],
  ['/console/operator/accounts', 'Accounts'],
  ['/console/operator/catalog', 'Catalog'],
  ['/console/operator/plane', 'Plane'],
] as const

describe('pages of accounts and operators', () => {
  let plane: TestPlane
  let browser: Browser
  let visitor: Visitor
  beforeAll(async () => {
    ;[plane, browser] = await Promise.all([startPlane({ args: ['--simulate-gpus', 'NVIDIA L4:1'] }), openBrowser()])
    visitor = await Visitor.open(browser, plane)
    const link = plane.output().match(/http\S+#link=\S+/)?.[0] ?? ''
    await visitor.page.goto(link)
    await visitor.page.getByRole('navigation', { name: 'Main' }).waitFor()
  })
  afterAll(async () => {
    await browser?.close()
    await plane?.stop()
  })

  test('[UI-60] the printed link signs in as an operator, leaves nothing of itself in the address, and is spent', async () => {
    expect(visitor.page.url()).not.toContain('link=')
    await visitor.page.getByRole('link', { name: 'Hosts', exact: true }).waitFor()
    const other = await Visitor.open(browser, plane)
    await other.page.goto(plane.output().match(/http\S+#link=\S+/)?.[0] ?? '')
    await other.page.getByRole('alert').waitFor()
    expect(await other.context.cookies()).toEqual([])
    await other.close()
  })

  test.each(PAGES)('[UI-61] %s is shown to everybody: wide, on a phone, in the dark', async (path, title) => {
    const before = visitor.complaints.length
    await visitor.go(path)
    await visitor.heading(title)
    await expect.poll(() => visitor.page.getByText('Loading…').count(), { timeout: 20_000 }).toBe(0)
    await visitor.expectAccessible(path)
    await visitor.page.emulateMedia({ colorScheme: 'dark' })
    await visitor.page.setViewportSize({ width: 390, height: 800 })
    await visitor.expectAccessible(`${path} on a phone in the dark`)
    expect(
      await visitor.page.evaluate('document.documentElement.scrollWidth <= window.innerWidth'),
      `${path} does not scroll sideways`,
    ).toBe(true)
    await visitor.page.emulateMedia({ colorScheme: 'light' })
    await visitor.page.setViewportSize({ width: 1280, height: 800 })
    expect(visitor.complaints.slice(before)).toEqual([])
  })

  test('[UI-62] a key is made, shown once, works, and is revoked', async () => {
    await visitor.go('/console/keys')
    await visitor.page.getByRole('button', { name: 'New key' }).click()
    await visitor.page.getByLabel('Name').fill('from the console')
    await visitor.page.getByRole('button', { name: 'Make the key' }).click()
    const dialog = visitor.page.getByRole('dialog', { name: 'The new key' })
    const key = (await dialog.locator('pre').textContent()) ?? ''
    const api = createApiClient(plane.url, key)
    expect((await api.listPods()).pods).toEqual([])
    await dialog.getByRole('button', { name: 'I have kept it' }).click()
    expect(await visitor.page.content()).not.toContain(key)
    await visitor.page.getByRole('button', { name: 'Revoke from the console' }).click()
    await visitor.page.getByRole('button', { name: 'Revoke', exact: true }).click()
    await visitor.page.getByText('Revoked from the console').waitFor()
    await expect(api.listPods()).rejects.toMatchObject({ status: 401 })
  })

  test('[UI-63] a machine is cordoned and takes work again', async () => {
    await visitor.go('/console/operator/hosts')
    await visitor.page.getByRole('link', { name: 'local' }).click()
    await visitor.page.getByRole('button', { name: 'Cordon', exact: true }).click()
    await visitor.page.getByRole('button', { name: 'Uncordon' }).click()
    await visitor.page.getByRole('button', { name: 'Cordon', exact: true }).waitFor()
    const { hosts } = await createApiClient(plane.url, plane.operatorKey).listHosts()
    expect(hosts[0]?.cordon).toBeNull()
  })

  test('[UI-64] a device that shows a code is let in, with a key of the account', async () => {
    const login = await startDeviceLogin(plane.url, 'laptop of the test')
    await visitor.page.goto(login.verification_uri_complete)
    await visitor.heading('Let a device in')
    await visitor.page.getByText(login.user_code).waitFor()
    await visitor.expectAccessible('device')
    await visitor.page.getByRole('button', { name: 'Let it in' }).click()
    await visitor.page.getByText('is let in').first().waitFor()
    const { access_token: key } = await waitForDeviceKey(plane.url, login)
    expect((await createApiClient(plane.url, key).getUser()).email).toBe('demo@podplane.local')
  })

  test('[UI-65] a pod that costs is stopped by the plan that was shown, and started again', async () => {
    const api = createApiClient(plane.url, plane.apiKey)
    const pod = await api.createPod({ body: { name: 'forgotten', image: 'builtin/idle', gpu: { id: 'NVIDIA L4', count: 1 } } })
    const status = async () => (await api.getPod({ path: { id: pod.id } })).status
    await expect.poll(status, { timeout: 20_000 }).toBe('RUNNING')
    await visitor.go('/console/usage')
    await visitor.page.getByRole('link', { name: 'forgotten' }).waitFor()
    await visitor.page.getByRole('button', { name: 'Stop spend' }).click()
    await visitor.page.getByText('pod forgotten, saves').waitFor()
    await visitor.expectAccessible('the plan of a stop')
    await visitor.picture('stop-spend')
    await visitor.page.getByRole('button', { name: 'Stop 1 thing' }).click()
    await expect.poll(status, { timeout: 20_000 }).toBe('EXITED')
    await visitor.page.getByRole('button', { name: 'Undo' }).click()
    await expect.poll(status, { timeout: 20_000 }).toBe('RUNNING')
    await api.deletePod({ path: { id: pod.id } })
  })

  test('[UI-66] no secret stays in the browser', async () => {
    await visitor.go('/console/keys')
    await visitor.heading('API keys')
    const kept = (await visitor.page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])')) as string
    for (const secret of [plane.apiKey, plane.operatorKey]) {
      expect(kept).not.toContain(secret)
      expect(await visitor.page.content()).not.toContain(secret)
    }
    const cookies = await visitor.context.cookies()
    expect(cookies.every(({ httpOnly, sameSite }) => httpOnly && sameSite === 'Strict')).toBe(true)
  })
})
