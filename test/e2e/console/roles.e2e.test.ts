import { randomUUID } from 'node:crypto'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createApiClient } from '../../../src/client/client.ts'
import { waitUntil } from '../../support/time.ts'
import { startPlane, type TestPlane } from '../support/plane/plane.ts'
import { openBrowser, Visitor } from './support/browser.ts'
import { isRead, lead, READ_LIMIT_MS, ROUTES } from './support/walk.ts'

const NAMELESS = ROUTES.filter((path) => !path.includes('$') && !path.startsWith('/console/operator'))
const ROLES = ['BASIC', 'BILLING', 'DEV'] as const

describe('[UI-83] a member of an organization', () => {
  let plane: TestPlane
  let browser: Browser
  beforeAll(async () => {
    ;[plane, browser] = await Promise.all([startPlane({ args: ['--simulate-gpus', 'NVIDIA L4:3'] }), openBrowser()])
  })
  afterAll(async () => {
    await browser?.close()
    await plane?.stop()
  })

  test('sees no error on any page, in any role, and a DEV creates a key', async () => {
    const owner = createApiClient(plane.url, plane.apiKey)
    const operator = createApiClient(plane.url, plane.operatorKey)
    const { id } = await owner.createOrganization({ body: { name: 'Lab' } })
    const email = `grace-${randomUUID()}@example.com`
    const user = await operator.createUser({ body: { email } })
    const { key } = await operator.createKey({ path: { id: user.id }, body: { name: 'hers' } })
    const { token } = await owner.createInvitation({ path: { id }, body: { email, role: 'BASIC' } })
    await createApiClient(plane.url, key).acceptInvitation({ body: { token } })
    const visitor = await Visitor.open(browser, plane)
    const { page } = visitor
    page.setDefaultTimeout(READ_LIMIT_MS)
    const { path: link } = await operator.createSignInLink({ body: { userId: user.id } })
    await visitor.go(link)
    await page.getByRole('button', { name: /^Sign in as / }).click()
    await page.getByRole('button', { name: /^Account/ }).click()
    await page.getByRole('menuitem', { name: 'Switch to Lab' }).click()
    const wrong: string[] = []
    for (const role of ROLES) {
      await owner.updateOrganizationMember({ path: { id, userId: user.id }, body: { role } })
      await page.reload()
      await page.getByRole('button', { name: 'Account: Lab' }).waitFor()
      for (const path of NAMELESS) {
        await lead(page, path)
        await isRead(page, path)
        for (const alert of await page.getByRole('alert').all()) wrong.push(`${role} ${path}: ${await alert.innerText()}`)
      }
      if (role !== 'DEV') continue
      await lead(page, '/console/keys')
      await page.getByRole('button', { name: 'New key' }).click()
      await page.getByLabel('Name').fill('hers')
      await page.getByRole('button', { name: 'Create key' }).click()
      await page.getByRole('dialog', { name: 'New API key' }).getByText('pp_').first().waitFor({ timeout: 60_000 })
      await page.reload()
    }
    expect(wrong).toEqual([])
  })
})

test('[UI-84] the log of a pod is requested once while the page polls the pod, and keeps its lines', async () => {
  const [plane, browser] = await Promise.all([startPlane({ args: ['--simulate-gpus', 'NVIDIA L4:1'] }), openBrowser()])
  try {
    const gpu = { id: 'NVIDIA L4', count: 1 }
    const api = createApiClient(plane.url, plane.apiKey)
    const pod = await api.createPod({ body: { name: 'box', image: 'builtin/idle', gpu } })
    const visitor = await Visitor.open(browser, plane)
    await visitor.signInByLink(plane)
    const asked: string[] = []
    visitor.page.on('request', (request) => asked.push(new URL(request.url()).pathname))
    await visitor.go(`/console/pods/${pod.id}?tab=logs`)
    await visitor.page.getByRole('grid').waitFor()
    const polls = () => asked.filter((path) => path === `/v2/pods/${pod.id}`).length
    for (const change of ['a', 'b']) {
      // Only a poll that brings something new draws the page again.
      await api.updatePod({ path: { id: pod.id }, body: { labels: { change } } })
      const before = polls()
      await waitUntil('two more polls of the pod', () => polls() > before + 1)
    }
    expect(asked.filter((path) => path === `/v2/pods/${pod.id}/logs`)).toHaveLength(1)
    await visitor.close()
  } finally {
    await browser.close()
    await plane.stop()
  }
})
