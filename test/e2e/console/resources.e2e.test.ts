import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { waitUntil } from '../../support/time.ts'
import { startPlane, type TestPlane } from '../support/plane.ts'
import { openBrowser, Visitor } from './support/browser.ts'

const PHONE = { viewport: { width: 390, height: 844 }, colorScheme: 'dark' as const }
const SECRET_VALUE = 'correct-horse-battery'

let plane: TestPlane
let browser: Browser
beforeAll(async () => {
  ;[plane, browser] = await Promise.all([startPlane({ args: ['--simulate-gpus', 'NVIDIA L4:3'] }), openBrowser()])
})
afterAll(async () => {
  await browser?.close()
  await plane?.stop()
})

describe('Home', () => {
  test('[UI-27, UI-6] shows a newcomer the first steps, and what runs once something does', async () => {
    const visitor = await Visitor.open(browser, plane)
    const { page } = visitor
    await visitor.signIn(plane.apiKey, '/console')
    await page.getByRole('region', { name: 'First steps' }).waitFor()
    await page.getByText(`podplane jobs runsync ${plane.endpointId}`).waitFor()
    await visitor.expectAccessible('home of a newcomer')
    await visitor.picture('home-first')
    await visitor.go('/console/clusters/new')
    await page.getByLabel('Name').fill('sft')
    await page.getByLabel('GPU type').selectOption('NVIDIA L4')
    await page.getByLabel('Image').fill('builtin/idle')
    await page.getByText('All members fit now').waitFor()
    await page.getByLabel('Members').fill('4')
    await page.getByText('There is no room for all members now.').waitFor()
    await visitor.expectAccessible('a new cluster')
    await page.getByRole('button', { name: 'Take 3 members' }).click()
    expect(await page.getByLabel('Members').inputValue()).toBe('3')
    await page.getByText('All members fit now').waitFor()
    await page.getByLabel('Members').fill('2')
    await page.getByText('All members fit now').waitFor()
    await page.getByRole('button', { name: 'Create cluster' }).click()
    await visitor.heading('sft')
    await page.getByRole('row', { name: /^1 sft-1/ }).waitFor()
    await visitor.expectAccessible('a cluster')
    await visitor.picture('cluster')
    await visitor.go('/console')
    await page.getByText('2 of 2 run').waitFor()
    expect(await page.getByRole('region', { name: 'First steps' }).count()).toBe(0)
    expect(visitor.complaints).toEqual([])
    await visitor.close()
  })

  test('[UI-29] a cluster is renamed, and deleted once its name is typed', async () => {
    const visitor = await Visitor.open(browser, plane)
    const { page } = visitor
    await visitor.signIn(plane.apiKey, '/console/clusters')
    await page.getByRole('link', { name: 'sft' }).click()
    await page.getByRole('button', { name: 'Rename' }).click()
    await page.getByRole('dialog').getByLabel('Name').fill('sft-2')
    await page.getByRole('dialog').getByRole('button', { name: 'Rename' }).click()
    await visitor.heading('sft-2')
    await page.getByRole('button', { name: 'Delete' }).click()
    const dialog = page.getByRole('dialog')
    expect(await dialog.getByRole('button', { name: 'Delete' }).getAttribute('aria-disabled')).toBe('true')
    await dialog.getByLabel('Type sft-2 to go on').fill('sft-2')
    await dialog.getByRole('button', { name: 'Delete' }).click()
    await visitor.heading('Clusters')
    await page.getByText('No clusters yet').waitFor()
    expect(visitor.complaints).toEqual([])
    await visitor.close()
  })
})

describe('what is kept', () => {
  test('[UI-28, UI-30] a secret goes in and never comes out; who deletes it reads what uses it', async () => {
    const visitor = await Visitor.open(browser, plane)
    const { page } = visitor
    await visitor.signIn(plane.apiKey, '/console/secrets')
    await page.getByText('No secrets yet').waitFor()
    await page.getByRole('button', { name: 'New secret' }).click()
    await page.getByLabel('Name').fill('DB')
    await page.getByLabel('Value').fill(SECRET_VALUE)
    await visitor.expectAccessible('a new secret')
    await page.getByRole('button', { name: 'Copy as…' }).click()
    expect(await page.getByRole('dialog').last().innerText()).not.toContain(SECRET_VALUE)
    await page.getByRole('button', { name: 'Close' }).click()
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('cell', { name: 'DB', exact: true }).waitFor()
    expect(await page.content()).not.toContain(SECRET_VALUE)
    await visitor.go('/console/templates/new')
    await page.getByLabel('Name').fill('web')
    await page.getByLabel('Image').fill('docker.io/library/nginx:1')
    await page.getByLabel('Environment', { exact: true }).fill('PASSWORD={{ RUNPOD_SECRET_DB }}')
    await page.getByRole('button', { name: 'Create template' }).click()
    await visitor.heading('web')
    await visitor.expectAccessible('a template')
    await visitor.go('/console/secrets')
    await page.getByRole('button', { name: 'Delete DB' }).click()
    await page.getByText('template web').waitFor()
    await visitor.expectAccessible('the end of a secret')
    await page.getByLabel('Type DB to go on').fill('DB')
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByText('No secrets yet').waitFor()
    expect(visitor.complaints).toEqual([])
    await visitor.close()
  })

  test('[UI-28] volumes and credentials are made, changed and deleted', async () => {
    const visitor = await Visitor.open(browser, plane)
    const { page } = visitor
    await visitor.signIn(plane.apiKey, '/console/volumes')
    await page.getByText('No network volumes yet').waitFor()
    await visitor.expectAccessible('volumes, empty')
    await page.getByRole('button', { name: 'New network volume' }).click()
    await page.getByLabel('Name').fill('datasets')
    await page.getByLabel('Size (GB)').fill('5')
    await page.getByLabel('Data center').selectOption({ index: 1 })
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('alert').waitFor()
    await page.getByLabel('Size (GB)').fill('20')
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('cell', { name: '20 GB' }).waitFor()
    await page.getByRole('button', { name: 'Edit datasets' }).click()
    await page.getByLabel('Size (GB)').fill('30')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('cell', { name: '30 GB' }).waitFor()
    await page.getByRole('button', { name: 'Delete datasets' }).click()
    await page.getByRole('dialog').getByText('all that is in it (up to 30 GB) is wiped').waitFor()
    await page.getByLabel('Type datasets to go on').fill('datasets')
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByText('No network volumes yet').waitFor()
    await visitor.go('/console/registries')
    await page.getByRole('button', { name: 'New credential' }).click()
    await page.getByLabel('Name', { exact: true }).fill('ghcr')
    await page.getByLabel('User name').fill('octocat')
    await page.getByLabel('Password or token').fill(SECRET_VALUE)
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('cell', { name: 'ghcr', exact: true }).waitFor()
    await visitor.expectAccessible('registries')
    expect(visitor.complaints).toEqual([])
    await visitor.close()
  })

  test('[UI-26] the pages fit a phone, in the dark, and tell when the plane is gone', async () => {
    const visitor = await Visitor.open(browser, plane, PHONE)
    const { page } = visitor
    await visitor.signIn(plane.apiKey, '/console')
    for (const path of ['', '/clusters', '/clusters/new', '/volumes', '/templates', '/templates/new', '/registries', '/secrets']) {
      await visitor.go(`/console${path}`)
      await page.getByRole('heading', { level: 1 }).waitFor()
      await waitUntil('nothing loads', async () => (await page.getByText('Loading…').count()) === 0)
      await visitor.expectAccessible(`on a phone: ${path}`)
      expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), `overflow of ${path}`).toBe(0)
      await visitor.picture(`phone${path.replaceAll('/', '-')}`)
    }
    for (const path of ['/clusters/nothere1234567', '/templates/nothere1234567']) {
      await visitor.go(`/console${path}`)
      await page.getByRole('alert').first().waitFor()
      await visitor.expectAccessible(`nothing there: ${path}`)
    }
    await visitor.go('/console')
    await visitor.heading('Home')
    await page.getByText('echo').first().waitFor()
    await plane.kill('SIGINT')
    await page.getByText('Last seen').first().waitFor()
    await visitor.expectAccessible('home of a plane that is gone')
    expect(visitor.complaints).toEqual([])
    await visitor.close()
  })
})
