import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { IDP_AUDIENCE, IDP_CLIENT, type IdentityProvider, startIdentityProvider } from '../../../scripts/identity-provider.ts'
import { createApiClient } from '../../../src/client/client.ts'
import { startDeviceLogin, waitForDeviceKey } from '../../../src/client/device.ts'
import { startPlane, type TestPlane } from '../support/plane/plane.ts'
import { openBrowser, printedLink, Visitor } from './support/browser.ts'

// Pages of an account and of the operator, opened by the link that npm start prints, on the real plane.

describe('pages of accounts and operators', () => {
  let provider: IdentityProvider
  let plane: TestPlane
  let browser: Browser
  let visitor: Visitor
  beforeAll(async () => {
    provider = await startIdentityProvider(0)
    const env = { OIDC_ISSUER: provider.issuer, OIDC_AUDIENCE: IDP_AUDIENCE, OIDC_CLIENT_ID: IDP_CLIENT }
    ;[plane, browser] = await Promise.all([startPlane({ args: ['--simulate-gpus', 'NVIDIA L4:1'], env }), openBrowser()])
    visitor = await Visitor.open(browser, plane)
    await visitor.signInByLink(plane)
  })
  afterAll(async () => {
    await visitor?.close()
    await browser?.close()
    await plane?.stop()
    await provider?.stop()
  })

  test('[UI-60] the printed link signs in as an operator, leaves nothing of itself in the address, and works once', async () => {
    expect(visitor.page.url()).not.toContain('link=')
    await visitor.page.getByRole('link', { name: 'Hosts', exact: true }).waitFor()
    const other = await Visitor.open(browser, plane)
    await other.page.goto(printedLink(plane))
    await other.page.getByRole('alert').waitFor()
    expect(await other.context.cookies()).toEqual([])
    await other.close()
  })

  test('[UI-62] a key is created, shown once, works, and is revoked', async () => {
    await visitor.go('/console/keys')
    await visitor.page.getByRole('button', { name: 'New key' }).click()
    await visitor.page.getByLabel('Name').fill('from the console')
    await visitor.page.getByRole('button', { name: 'Create key' }).click()
    const dialog = visitor.page.getByRole('dialog', { name: 'New API key' })
    const key = (await dialog.locator('pre').textContent()) ?? ''
    const api = createApiClient(plane.url, key)
    expect((await api.listPods()).pods).toEqual([])
    await dialog.getByRole('button', { name: 'I have stored it' }).click()
    expect(await visitor.page.content()).not.toContain(key)
    await visitor.page.getByRole('button', { name: 'Revoke from the console' }).click()
    // A dialog that confirms an action offers the same call for other tools, too.
    await visitor.page.getByRole('dialog').getByRole('button', { name: 'Copy as…' }).click()
    await visitor.page.getByRole('region', { name: 'curl' }).getByText('-X DELETE').waitFor()
    await visitor.page.getByRole('button', { name: 'Close' }).click()
    await visitor.page.getByRole('button', { name: 'Revoke', exact: true }).click()
    await visitor.page.getByText('Revoked from the console').waitFor()
    await expect(api.listPods()).rejects.toMatchObject({ status: 401 })
  })

  test('[UI-63] a machine is cordoned and uncordoned', async () => {
    await visitor.go('/console/operator/hosts')
    await visitor.page.getByRole('link', { name: 'local' }).click()
    await visitor.page.getByRole('button', { name: 'Cordon', exact: true }).click()
    await visitor.page.getByRole('button', { name: 'Uncordon' }).click()
    await visitor.page.getByRole('button', { name: 'Cordon', exact: true }).waitFor()
    const { hosts } = await createApiClient(plane.url, plane.operatorKey).listHosts()
    expect(hosts[0]?.cordon).toBeNull()
  })

  test('[UI-69, UI-68] the operator sets limits of an account in fields, beside its usage, after the preview of that very call', async () => {
    const api = createApiClient(plane.url, plane.operatorKey)
    const id = (await api.listUsers()).users[0]?.id ?? ''
    const { page } = visitor
    const dialog = page.getByRole('dialog')
    const panel = (name: string) => page.getByRole('heading', { name, exact: true }).locator('xpath=ancestor::section')
    await visitor.go(`/console/operator/accounts/${id}`)
    await page.getByText('1 of 500 in use').first().waitFor()
    const gpus = page.getByLabel('GPUs of pods and workers')
    expect([await gpus.inputValue(), await gpus.getAttribute('placeholder')]).toEqual(['', '256'])
    await gpus.fill('some')
    await page.getByText('Enter a number, or leave it empty.').waitFor()
    expect(await panel('Budgets').getByRole('button', { name: 'Save', exact: true }).getAttribute('aria-disabled')).toBe('true')
    await gpus.fill('8')
    await page.getByLabel('Inputs and results of jobs (MiB)').fill('1.5')
    await visitor.expectAccessible('limits of an account')
    await panel('Budgets').getByRole('button', { name: 'Save', exact: true }).click()
    await dialog.getByRole('list', { name: 'Effects', exact: true }).getByText('gpus').first().waitFor()
    expect(await api.getBudgets({ path: { id } })).toEqual({})
    await dialog.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('The budgets are set').waitFor()
    expect(await api.getBudgets({ path: { id } })).toEqual({ gpus: 8, queuedBytes: 1.5 * 2 ** 20 })
    await page.getByText('0 of 8 in use').waitFor()
    await page.getByLabel('Maximum USD per hour').fill('12.5')
    await panel('Spending limits').getByRole('button', { name: 'Save', exact: true }).click()
    await dialog.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('of $12.50/h now').waitFor()
    await panel('Request limits').getByRole('button', { name: 'Reset to plan' }).click()
    await dialog.getByRole('list', { name: 'Effects', exact: true }).waitFor()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await api.setPlan({ path: { name: 'research' }, body: { budgets: { gpus: 64 } } })
    await visitor.go(`/console/operator/accounts/${id}`)
    await page.getByLabel('Plan', { exact: true }).selectOption('research')
    await panel('Plan').getByText('GPUs of pods and workers').waitFor()
    await panel('Plan').getByRole('button', { name: 'Save', exact: true }).click()
    await dialog.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('The plan is set').waitFor()
    expect(await api.getUserPlan({ path: { id } })).toEqual({ plan: 'research' })
    await visitor.picture('operator-account')
    await Promise.all([api.setUserPlan({ path: { id }, body: { plan: null } }), api.setBudgets({ path: { id }, body: {} })])
    await api.setSpendCeilings({ path: { id }, body: {} })
  })

  test('[UI-74] the operator changes a price in fields, after the preview of that very call', async () => {
    const api = createApiClient(plane.url, plane.operatorKey)
    const { page } = visitor
    const dialog = page.getByRole('dialog').last()
    await visitor.go('/console/operator/catalog')
    await page.getByRole('button', { name: 'Change NVIDIA L4', exact: true }).click()
    const secure = dialog.getByLabel('Secure, USD per unit and hour')
    await secure.fill('cheap')
    await dialog.getByText('Enter a number of 0 or more, or: not sold.').waitFor()
    await secure.fill('0.77')
    await dialog.getByLabel('Community, USD per unit and hour').fill('not sold')
    await visitor.expectAccessible('an entry of the catalog')
    await dialog.getByRole('button', { name: 'Save', exact: true }).click()
    await dialog.getByRole('list', { name: 'Effects', exact: true }).waitFor()
    const entryOf = async () => (await api.getCatalogGpu({ path: { id: 'NVIDIA L4' } })).entry
    expect(await entryOf()).toEqual({})
    await dialog.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('NVIDIA L4 is changed').waitFor()
    expect(await entryOf()).toEqual({ securePrice: 0.77, communityPrice: null })
    await page
      .getByRole('row', { name: /^NVIDIA L4 / })
      .getByText('$0.77')
      .waitFor()
    await api.deleteCatalogGpu({ path: { id: 'NVIDIA L4' } })
  })

  test('[UI-64] a device that shows a code is approved, with a key of the account', async () => {
    const login = await startDeviceLogin(plane.url, 'laptop of the test')
    await visitor.page.goto(login.verification_uri_complete)
    await visitor.heading('Approve a device')
    await visitor.page.getByText(login.user_code).waitFor()
    await visitor.expectAccessible('device')
    await visitor.page.getByRole('button', { name: 'Approve' }).click()
    await visitor.page.getByText('is approved').first().waitFor()
    const { access_token: key } = await waitForDeviceKey(plane.url, login)
    expect((await createApiClient(plane.url, key).getUser()).email).toBe('demo@podplane.local')
  })

  test('[UI-65, UI-73] a pod that is charged is stopped by the plan that was shown, and started again', async () => {
    const api = createApiClient(plane.url, plane.apiKey)
    const pod = await api.createPod({ body: { name: 'forgotten', image: 'builtin/idle', gpu: { id: 'NVIDIA L4', count: 1 } } })
    const status = async () => (await api.getPod({ path: { id: pod.id } })).status
    await expect.poll(status, { timeout: 20_000 }).toBe('RUNNING')
    const [host] = (await createApiClient(plane.url, plane.operatorKey).listHosts()).hosts
    await visitor.go(`/console/operator/hosts/${host?.id}`)
    const held = visitor.page.getByRole('list', { name: 'Effects', exact: true })
    await held.getByText(/pod forgotten of account \w+: /).waitFor()
    await visitor.expectAccessible('a host and who holds what')
    await visitor.go('/console/usage')
    await visitor.page.getByRole('link', { name: 'forgotten' }).waitFor()
    await visitor.page.getByRole('button', { name: 'Stop spend' }).click()
    await visitor.page.getByText('pod forgotten, saves').waitFor()
    await visitor.expectAccessible('the plan of a stop')
    await visitor.picture('stop-spend')
    await visitor.page.getByRole('button', { name: 'Stop 1 resource' }).click()
    await expect.poll(status, { timeout: 20_000 }).toBe('EXITED')
    await visitor.page.getByRole('button', { name: 'Undo' }).click()
    await expect.poll(status, { timeout: 20_000 }).toBe('RUNNING')
    await api.deletePod({ path: { id: pod.id } })
  })

  test('[UI-8] an invited member may do what the role allows, and more as soon as the role is raised', async () => {
    const { page: owner } = visitor
    await visitor.go('/console/team')
    const making = owner.getByRole('heading', { name: 'New organization' }).locator('xpath=ancestor::section')
    await making.getByLabel('Name').fill('Lab')
    await making.getByRole('button', { name: 'Create' }).click()
    await owner.getByLabel('Email', { exact: true }).fill('grace@example.com')
    await owner.getByLabel('Role', { exact: true }).selectOption('BASIC')
    await owner.getByRole('button', { name: 'Invite', exact: true }).click()
    const dialog = owner.getByRole('dialog', { name: 'The invitation' })
    const invitation = (await dialog.locator('pre').textContent()) ?? ''
    await dialog.getByRole('button', { name: 'I have stored it' }).click()

    const grace = await Visitor.open(browser, plane)
    const { page } = grace
    // Installed before the page loads: a timer that it had already set would follow the real clock.
    await page.clock.install()
    await grace.go('/console/team')
    await page.getByRole('link', { name: 'Continue with your organization' }).click()
    await page.locator('input[name=login]').fill('grace@example.com')
    await page.locator('input[name=password]').fill('any')
    await page.locator('button[type=submit]').click()
    await page.getByRole('button', { name: 'Continue' }).click()
    await grace.heading('Team')
    await page.getByLabel('Invitation token').fill(invitation)
    await page.getByRole('button', { name: 'Accept' }).click()
    await page.getByText('You are now a member').waitFor()
    await page.getByRole('button', { name: /^Account/ }).click()
    await page.getByRole('menuitem', { name: 'Switch to Lab' }).click()
    await page.getByRole('button', { name: 'Account: Lab' }).waitFor()

    await page.getByRole('link', { name: 'Pods', exact: true }).click()
    await page.getByRole('link', { name: 'New pod' }).click()
    // The list has a field of that name as well.
    await grace.heading('New pod')
    await page.getByLabel('Name').fill('hers')
    await page.getByLabel('Image').fill('builtin/idle')
    await page.getByRole('radio', { name: 'L4', exact: true }).check()
    const button = page.getByRole('button', { name: 'Create pod' })
    expect([await button.getAttribute('aria-disabled'), await button.getAttribute('title')]).toEqual([
      'true',
      'Your role may view pods but not create them.',
    ])
    await grace.expectAccessible('a new pod for who may not make one')
    await button.click({ force: true })
    const byHand = (query = '') =>
      page.evaluate<number>(`fetch('/v2/pods${query}', {
      method: 'POST',
      headers: { 'x-requested-with': 'podplane', 'x-team-id': sessionStorage.getItem('podplane.account'), 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'by-hand', image: 'builtin/idle', gpu: { id: 'NVIDIA L4', count: 1 } }),
    }).then(({ status }) => status)`)
    expect(await byHand()).toBe(403)

    // The page would refresh by itself later.
    await visitor.go('/console/team')
    await owner.getByLabel('Role of grace@example.com').selectOption('DEV')
    const change = owner.getByRole('dialog', { name: 'Make grace@example.com DEV?' })
    await change.getByRole('list', { name: 'Effects', exact: true }).waitFor()
    await change.getByRole('button', { name: 'Change the role' }).click()
    await owner.getByText('grace@example.com is DEV now').waitFor()
    // An isolate other than the one that changed the role sees it within a minute (OIDC-12).
    await expect.poll(() => byHand('?dryRun=true'), { timeout: 70_000 }).toBe(200)
    await page.clock.fastForward(30_000)
    await button.and(page.locator(':not([aria-disabled])')).waitFor()
    await button.click()
    await grace.heading('hers')
    await page.getByText('RUNNING').first().waitFor()
    const { pods } = await page.evaluate<{ pods: { name: string }[] }>(
      "fetch('/v2/pods', { headers: { 'x-team-id': sessionStorage.getItem('podplane.account') } }).then((answer) => answer.json())",
    )
    expect(pods.map(({ name }) => name)).toEqual(['hers'])
    expect(grace.complaints).toEqual([])
    await grace.close()
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
